CREATE EXTENSION IF NOT EXISTS plpgsql;

CREATE TYPE job_status AS ENUM ('todo', 'doing', 'failed');

CREATE TABLE jobs (
    id bigserial PRIMARY KEY,
    status job_status DEFAULT 'todo'::job_status NOT NULL
);

CREATE TABLE job_events (
    job_id integer NOT NULL REFERENCES jobs(id) ON DELETE CASCADE,
    at timestamp with time zone DEFAULT NOW()
);

CREATE FUNCTION fetch_job(names character varying[]) RETURNS jobs
    LANGUAGE plpgsql
    AS $$
DECLARE
    found jobs;
BEGIN
    WITH candidate AS (
        SELECT jobs.* FROM jobs WHERE status = 'todo' FOR UPDATE SKIP LOCKED
    )
    UPDATE jobs SET status = 'doing' FROM candidate WHERE jobs.id = candidate.id RETURNING jobs.* INTO found;
    RETURN found;
END;
$$;

CREATE FUNCTION note_event() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO job_events(job_id, at) VALUES (NEW.id, now());
    PERFORM pg_notify('jobs', NEW.id::text);
    RETURN NEW;
END;
$$;

CREATE INDEX ON jobs(status);
CREATE INDEX IF NOT EXISTS job_events_job ON job_events(job_id);

CREATE TRIGGER jobs_note AFTER INSERT ON jobs FOR EACH ROW EXECUTE PROCEDURE note_event();

CREATE OR REPLACE FUNCTION @extschema@.purge(NAME, TEXT) RETURNS SETOF TEXT AS $$
    SELECT @extschema@.drop_old($1, $2)
$$ LANGUAGE sql;
