defmodule Shop.Controller do
  alias Shop.Helpers

  # risk: http.request->System.shell
  def ping(conn, _opts) do
    host = conn.params["host"]
    System.shell("ping -c 1 #{host}")
  end

  # risk: none (a number)
  def ping_times(conn, _opts) do
    count = String.to_integer(conn.params["count"])
    System.shell("ping -c #{count} localhost")
  end

  # risk: http.request->sql.query
  def by_name(conn, _opts) do
    name = conn.query_params["name"]
    statement = "SELECT * FROM goods WHERE name = '" <> name <> "'"
    Repo.query(statement)
  end

  # risk: none (bound)
  def by_name_bound(conn, _opts) do
    Repo.query("SELECT * FROM goods WHERE name = $1", [conn.query_params["name"]])
  end

  # risk: process.env->eval
  def compute do
    text = System.get_env("EXPRESSION")
    Code.eval_string(text)
  end

  # risk: none (replaced)
  def compute_nothing do
    text = System.get_env("EXPRESSION")
    text = "1 + 1"
    Code.eval_string(text)
  end

  # risk: process.stdin->file.change
  def forget do
    name = IO.gets("which? ")
    File.rm_rf("/srv/" <> name)
  end

  # risk: none (the last part only)
  def forget_safely do
    name = Path.basename(IO.gets("which? "))
    File.rm_rf("/srv/" <> name)
  end

  # risk: http.headers->html.raw
  def echo(conn, _opts) do
    agent = get_req_header(conn, "user-agent")
    html(conn, "<p>#{agent}</p>")
  end

  # risk: none (escaped)
  def echo_escaped(conn, _opts) do
    agent = html_escape(get_req_header(conn, "user-agent"))
    html(conn, "<p>#{agent}</p>")
  end

  # risk: cross http.request->System.shell
  def pack(conn, _opts) do
    folder = conn.params["folder"]
    Helpers.archive("now", folder)
  end

  # risk: none (the harmless parameter)
  def pack_fixed(conn, _opts) do
    Helpers.archive(conn.params["note"], "/srv/goods")
  end

  # risk: cross process.env->System.shell
  def reload do
    line = "systemctl reload " <> Helpers.service()
    System.shell(line)
  end
end
