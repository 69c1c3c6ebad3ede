-- risk: http.request->sql.dynamic
CREATE FUNCTION by_name() RETURNS void AS $$
DECLARE
    wanted text;
BEGIN
    wanted := current_setting('request.query.name');
    EXECUTE 'SELECT * FROM goods WHERE name = ''' || wanted || '''';
END;
$$ LANGUAGE plpgsql;

-- risk: none (quoted)
CREATE FUNCTION by_name_quoted() RETURNS void AS $$
DECLARE
    wanted text;
BEGIN
    wanted := quote_literal(current_setting('request.query.name'));
    EXECUTE 'SELECT * FROM goods WHERE name = ' || wanted;
END;
$$ LANGUAGE plpgsql;

-- risk: none (a constant)
CREATE FUNCTION everything() RETURNS void AS $$
DECLARE
    wanted text;
BEGIN
    wanted := current_setting('request.query.name');
    EXECUTE 'SELECT * FROM goods';
END;
$$ LANGUAGE plpgsql;

-- risk: http.request->sql.dynamic
CREATE FUNCTION by_sort() RETURNS void AS $$
DECLARE
    wanted text;
    statement text;
BEGIN
    EXECUTE 'SELECT * FROM goods ORDER BY ' || current_setting('request.query.sort');
END;
$$ LANGUAGE plpgsql;

-- risk: http.request->sql.dynamic
CREATE FUNCTION by_format() RETURNS void AS $$
DECLARE
    wanted text;
    statement text;
BEGIN
    wanted := current_setting('request.query.name');
    statement := format('SELECT * FROM goods WHERE name = ''%s''', wanted);
    EXECUTE statement;
END;
$$ LANGUAGE plpgsql;

-- risk: http.request->file.read
CREATE FUNCTION read_any() RETURNS void AS $$
DECLARE
    wanted text;
    statement text;
BEGIN
    wanted := current_setting('request.query.file');
    PERFORM pg_read_file('/srv/' || wanted);
END;
$$ LANGUAGE plpgsql;

-- risk: http.request->sql.dynamic
CREATE FUNCTION twice() RETURNS void AS $$
DECLARE
    wanted text;
    statement text;
BEGIN
    wanted := current_setting('request.query.table');
    statement := 'DELETE FROM ' || wanted;
    statement := statement || ' WHERE old';
    EXECUTE statement;
END;
$$ LANGUAGE plpgsql;

-- risk: http.request->sql.dynamic
CREATE FUNCTION of_header() RETURNS void AS $$
DECLARE
    wanted text;
    statement text;
BEGIN
    wanted := current_setting('request.headers', true);
    IF wanted IS NOT NULL THEN
        EXECUTE 'SET LOCAL role ' || wanted;
    END IF;
END;
$$ LANGUAGE plpgsql;

-- risk: none (quoted)
CREATE FUNCTION by_ident() RETURNS void AS $$
DECLARE
    wanted text;
    statement text;
BEGIN
    wanted := quote_ident(current_setting('request.query.table'));
    EXECUTE 'DELETE FROM ' || wanted;
END;
$$ LANGUAGE plpgsql;

-- risk: none (bound)
CREATE FUNCTION bound() RETURNS void AS $$
DECLARE
    wanted text;
    statement text;
BEGIN
    wanted := current_setting('request.query.name');
    EXECUTE 'SELECT * FROM goods WHERE name = $1' USING wanted;
END;
$$ LANGUAGE plpgsql;

-- risk: none (a number)
CREATE FUNCTION numbered() RETURNS void AS $$
DECLARE
    wanted text;
    statement text;
BEGIN
    wanted := CAST(current_setting('request.query.id') AS integer);
    EXECUTE 'DELETE FROM goods WHERE id = ' || wanted;
END;
$$ LANGUAGE plpgsql;

-- risk: none (replaced)
CREATE FUNCTION replaced() RETURNS void AS $$
DECLARE
    wanted text;
    statement text;
BEGIN
    wanted := current_setting('request.query.table');
    wanted := 'goods';
    EXECUTE 'DELETE FROM ' || wanted;
END;
$$ LANGUAGE plpgsql;
