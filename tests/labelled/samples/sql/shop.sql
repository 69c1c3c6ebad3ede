\i common/types.sql

-- Everything of the shop.
CREATE SCHEMA IF NOT EXISTS shop;

CREATE TYPE shop.status AS ENUM ('open', 'paid; or nearly', 'sent');
CREATE DOMAIN shop.email AS text CHECK (value LIKE '%@%');
CREATE SEQUENCE shop.invoice_numbers START 1000;

/* Who buys.
 * One row per person. */
CREATE TABLE shop.customers (
    id          bigserial PRIMARY KEY,
    "fullName"  varchar(80) NOT NULL,
    email       shop.email UNIQUE,
    tags        text[] DEFAULT '{}',
    born        date,
    CONSTRAINT adult CHECK (born < now() - interval '18 years')
);

CREATE UNLOGGED TABLE IF NOT EXISTS shop.orders (
    id integer PRIMARY KEY,
    customer_id bigint NOT NULL REFERENCES shop.customers (id) ON DELETE CASCADE ON UPDATE CASCADE,
    total numeric(10, 2) DEFAULT 0, -- with taxes
    state shop.status DEFAULT 'open',
    created timestamp with time zone DEFAULT now()
);

CREATE TABLE shop.old_orders (archived date) INHERITS (shop.orders);
CREATE TEMP TABLE recent AS SELECT * FROM shop.orders WHERE created > now();

CREATE UNIQUE INDEX CONCURRENTLY orders_by_customer ON shop.orders USING btree (customer_id, created);
CREATE INDEX lower_email ON shop.customers (lower(email));

CREATE OR REPLACE VIEW shop.big_spenders AS
WITH totals AS (
    SELECT customer_id, sum(total) AS total FROM shop.orders GROUP BY customer_id
), best (id) AS (
    SELECT customer_id FROM totals WHERE total > 1000
)
SELECT c.*, CASE WHEN t.total > 5000 THEN 'gold' ELSE 'silver' END AS rank
FROM shop.customers c
JOIN totals t ON t.customer_id = c.id
LEFT JOIN best b USING (id);

CREATE MATERIALIZED VIEW shop.daily AS
    SELECT date_trunc('day', created) AS day, count(*) FROM shop.orders o, shop.customers AS c
    WHERE extract(dow FROM created) <> 0 AND o.state IS DISTINCT FROM 'open';

-- Adds an order.
CREATE OR REPLACE FUNCTION shop.add_order(customer bigint, amount numeric DEFAULT 1.5, VARIADIC notes text[] = '{}')
RETURNS integer AS $body$
DECLARE
    n integer := 0;
    label CONSTANT text := 'order';
    who shop.customers%ROWTYPE;
BEGIN
    IF amount IS NULL OR amount <= 0 THEN
        RAISE EXCEPTION 'bad amount; %', amount;
    ELSIF amount > 10000 AND NOT shop.is_trusted(customer) THEN
        RETURN 0;
    END IF;
    SELECT * INTO who FROM shop.customers WHERE id = customer FOR UPDATE;
    INSERT INTO shop.orders (customer_id, total) VALUES (customer, amount) RETURNING id INTO n;
    UPDATE shop.customers SET tags = array_append(tags, label) WHERE id = customer;
    DELETE FROM shop.carts WHERE customer_id = customer;
    PERFORM pg_notify('orders', n::text);
    RAISE NOTICE 'added %', n;
    RETURN n;
END;
$body$ LANGUAGE plpgsql SECURITY DEFINER;

CREATE FUNCTION shop.close_all(days int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE r record;
BEGIN
    FOR r IN SELECT id FROM shop.orders WHERE created < now() - days LOOP
        CONTINUE WHEN r.id = 1;
        EXIT WHEN r.id > 100;
        EXECUTE format('UPDATE %I SET state = 1', r.id);
    END LOOP;
    WHILE days > 0 LOOP
        days := days - 1;
    END LOOP;
EXCEPTION
    WHEN division_by_zero THEN
        RAISE;
END
$$;

CREATE FUNCTION twice(integer) RETURNS SETOF integer AS 'SELECT $1 * 2; SELECT 3' LANGUAGE sql IMMUTABLE STRICT;

CREATE FUNCTION shop.names() RETURNS TABLE (id bigint, name text) LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT id, "fullName" FROM shop.customers;
END;

CREATE TRIGGER audit AFTER INSERT OR UPDATE OF total ON shop.orders
    FOR EACH ROW WHEN (new.total > 0) EXECUTE FUNCTION shop.log_change('orders');

CREATE PROCEDURE shop.archive(IN before date, INOUT moved int)
LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO shop.old_orders SELECT * FROM shop.orders WHERE created < before;
    TRUNCATE TABLE shop.orders;
    ALTER TABLE shop.old_orders ADD COLUMN kept boolean;
    COMMIT;
END $$;

GRANT EXECUTE ON FUNCTION shop.names() TO reader;
COMMENT ON TABLE shop.orders IS 'what was ordered';
INSERT INTO shop.customers (email) SELECT email FROM imported.people;
CALL shop.archive('2020-01-01', 0);
