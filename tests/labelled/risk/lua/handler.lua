local helpers = require("helpers")

-- risk: http.request->os.execute
local function ping()
  local args = ngx.req.get_uri_args()
  os.execute("ping -c 1 " .. args.host)
end

-- risk: none (a number)
local function ping_times()
  local args = ngx.req.get_uri_args()
  local count = tonumber(args.count)
  os.execute("ping -c " .. count .. " localhost")
end

-- risk: http.request->sql.query
local function by_name(db)
  local name = ngx.var.arg_name
  local statement = "SELECT * FROM goods WHERE name = '" .. name .. "'"
  return db:query(statement)
end

-- risk: none (quoted)
local function by_name_quoted(db)
  local name = ngx.quote_sql_str(ngx.var.arg_name)
  return db:query("SELECT * FROM goods WHERE name = " .. name)
end

-- risk: process.stdin->eval
local function compute()
  local line = io.read("*l")
  return load(line)()
end

-- risk: none (replaced)
local function compute_nothing()
  local line = io.read("*l")
  line = "return 1"
  return load(line)()
end

-- risk: process.env->file.change
local function forget()
  local place = os.getenv("PLACE")
  os.remove(place)
end

-- risk: none (only compared)
local function forget_known()
  local inside = os.getenv("PLACE") == "inside"
  if inside then
    os.remove("/tmp/a")
  end
end

-- risk: http.headers->html.raw
local function echo()
  local headers = ngx.req.get_headers()
  ngx.say("<p>", headers["User-Agent"], "</p>")
end

-- risk: none (escaped)
local function echo_escaped()
  local headers = ngx.req.get_headers()
  ngx.say("<p>", ngx.escape_html(headers["User-Agent"]), "</p>")
end

-- risk: cross process.env->os.execute
local function pack()
  local folder = os.getenv("FOLDER")
  helpers.archive("now", folder)
end

-- risk: none (the harmless parameter)
local function pack_fixed()
  helpers.archive(os.getenv("NOTE"), "/srv/goods")
end

-- risk: cross process.env->os.execute
local function reload()
  local line = "systemctl reload " .. helpers.service()
  os.execute(line)
end

return { ping = ping, pack = pack, reload = reload }
