-- Things on shelves.
CREATE TABLE `items` (
  `id` int(11) unsigned NOT NULL AUTO_INCREMENT,
  `title` varchar(255) DEFAULT 'it\'s; new',
  PRIMARY KEY (`id`),
  KEY `by_title` (`title`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8;

DELIMITER $$
CREATE DEFINER=`root`@`localhost` PROCEDURE restock(IN item INT, OUT done INT)
BEGIN
  DECLARE left_over INT DEFAULT 3;
  DECLARE CONTINUE HANDLER FOR NOT FOUND SET done = 1;
  rounds: WHILE left_over > 0 DO
    SET left_over = left_over - 1;
    IF left_over = 1 THEN
      LEAVE rounds;
    ELSEIF left_over = 2 THEN
      ITERATE rounds;
    END IF;
    UPDATE items SET title = CONCAT(title, '!') WHERE id = item;
  END WHILE;
  REPEAT
    CALL shelve(item);
  UNTIL done END REPEAT;
  SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'empty';
END$$

CREATE TRIGGER stamp BEFORE INSERT ON items FOR EACH ROW
BEGIN
  SET NEW.title = UPPER(NEW.title);
END$$
DELIMITER ;

CREATE FUNCTION price(id INT) RETURNS DECIMAL(10,2) DETERMINISTIC
  RETURN (SELECT p FROM prices WHERE item = id);

REPLACE INTO items VALUES (1, 'a');
