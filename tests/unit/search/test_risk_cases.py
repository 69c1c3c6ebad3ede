"""Labelled functions of four languages: vulnerable ones, ones made harmless, and ones that only look like it."""

import re
from collections.abc import Iterator
from typing import NamedTuple

import pytest
from tests.rows import each_row

from holdfast.search.extract.code import extract
from holdfast.search.model import CallSite, Chunk, Write
from holdfast.search.risk.analysis import analyse
from holdfast.search.risk.flows import RiskFlow
from holdfast.search.risk.loading import load_rules

_CALL = re.compile(rb"((?:new\s+)?[A-Za-z_$][\w$]*(?:\??\.[A-Za-z_$][\w$]*)*)(\()")
_METHOD = re.compile(rb"\)\.([A-Za-z_$][\w$]*)(\()")
_WRITE = re.compile(
    rb"(?:(?:const|let|var|[A-Z]\w*(?:\[\])?)\s+)?((?:\w+, )*[\w$.\[\]\"']+)(?:: \w+)?\s*:?=(?![=>])\s*([^;\n]+)"
)


class Case(NamedTuple):
    title: str
    language: str
    code: str
    flows: frozenset[str]


def case(title: str, language: str, code: str, *flows: str) -> Case:
    return Case(title, language, code.strip("\n") + "\n", frozenset(flows))


def closing(source: bytes, start: int) -> int:
    depth = 0
    for position in range(start, len(source)):
        depth += {40: 1, 41: -1}.get(source[position], 0)
        if depth == 0:
            return position + 1
    return len(source)


def calls_of(source: bytes) -> Iterator[CallSite]:
    for pattern in (_CALL, _METHOD):
        for found in pattern.finditer(source):
            start = found.start(2)
            callee = found.group(1).decode().removeprefix("new ")
            yield CallSite(callee, start, closing(source, start), source.count(b"\n", 0, start) + 1)


def chunk_of(source: bytes) -> Chunk:
    """What an extractor would say, by a few regular expressions."""
    chunk = Chunk("code", "function", "f", 0, len(source), 1, source.count(b"\n"))
    chunk.call_sites = list(calls_of(source))
    for found in _WRITE.finditer(source):
        start, end = found.span(2)
        for target in found.group(1).decode().split(", "):
            chunk.written.append(Write(target, start, end, source.count(b"\n", 0, start) + 1))
    return chunk


def flows_of(language: str, code: str) -> list[RiskFlow]:
    source = code.encode()
    return analyse(language, source, chunk_of(source), load_rules())


def told(flows: list[RiskFlow]) -> set[str]:
    return {f"{flow.source}->{flow.sink}" for flow in flows}


PYTHON = [
    case("an argument in a shell", "python", """
def f():
    cmd = request.args.get("cmd")
    os.system(cmd)
""", "http.request->os.system"),
    case("an f-string in a shell", "python", """
def f():
    name = sys.argv[1]
    line = f"ls {name}"
    subprocess.run(line, shell=True)
""", "process.argv->subprocess.shell"),
    case("quoted for the shell", "python", """
def f():
    name = shlex.quote(sys.argv[1])
    subprocess.run(f"ls {name}", shell=True)
"""),
    case("a list of a fixed program", "python", """
def f():
    name = sys.argv[1]
    subprocess.run(["ls", name])
"""),
    case("a method of the same name", "python", """
def f(self):
    text = input()
    self.eval(text)
    self.system(text)
"""),
    case("concatenated SQL", "python", """
def f(cursor):
    user = request.form["user"]
    query = "SELECT * FROM t WHERE u = '" + user + "'"
    cursor.execute(query)
""", "http.request->sql.execute"),
    case("SQL with parameters", "python", """
def f(cursor):
    user = request.form["user"]
    cursor.execute("SELECT * FROM t WHERE u = %s", (user,))
"""),
    case("an executor is no database", "python", """
def f(executor):
    job = request.form["job"]
    executor.execute(job)
"""),
    case("the name is only inside of a string", "python", """
def f():
    data = request.args["data"]
    eval("data")
"""),
    case("the name is only in a comment", "python", """
def f():
    data = request.args["data"]
    eval(  # data
        "1 + 1")
"""),
    case("replaced before it is used", "python", """
def f():
    cmd = input()
    cmd = "ls"
    os.system(cmd)
"""),
    case("replaced in one branch only", "python", """
def f(flag):
    cmd = input()
    if flag:
        cmd = "ls"
    os.system(cmd)
""", "process.stdin->os.system"),
    case("assigned after its use", "python", """
def f(cmd):
    os.system(cmd)
    cmd = input()
"""),
    case("carried around a loop", "python", """
def f(cmd):
    while True:
        os.system(cmd)
        cmd = input()
""", "process.stdin->os.system"),
    case("collected in a list", "python", """
def f():
    parts = []
    for word in sys.argv:
        parts.append(word)
    os.system(" ".join(parts))
""", "process.argv->os.system"),
    case("added to a text", "python", """
def f():
    line = "ls "
    line += os.environ["DIR"]
    os.popen(line)
""", "process.env->os.system"),
    case("unpickled", "python", """
def f():
    return pickle.loads(request.data)
""", "http.request->deserialize"),
    case("a safe loader", "python", """
def f():
    return yaml.load(request.data, Loader=yaml.SafeLoader)
"""),
    case("a number", "python", """
def f(cursor):
    number = int(request.args["id"])
    cursor.execute(f"SELECT * FROM t WHERE id = {number}")
"""),
    case("cleaned for another danger", "python", """
def f():
    name = html.escape(input())
    os.system("ls " + name)
""", "process.stdin->os.system"),
    case("a URL of the user's", "python", """
def f():
    return requests.get(request.args["url"])
""", "http.request->http.fetch"),
    case("a path of the user's", "python", """
def f():
    with open(os.path.join(ROOT, request.args["name"])) as stream:
        return stream.read()
""", "http.request->file.open"),
    case("a base name", "python", """
def f():
    name = os.path.basename(request.args["name"])
    return open(os.path.join(ROOT, name))
"""),
    case("a keyword of the same name", "python", """
def f():
    shell = input()
    os.system(command="ls", shell=True)
"""),
    case("a comparison", "python", """
def f():
    debug = os.environ.get("DEBUG") == "1"
    eval(debug)
"""),
    case("an attribute of an object", "python", """
def f(self, options):
    options.cmd = input()
    options.cwd = "/"
    os.system(options.cwd)
"""),
    case("a comprehension", "python", """
def f():
    return [os.system(word) for word in sys.argv]
""", "process.argv->os.system"),
]  # fmt: skip

JAVASCRIPT = [
    case("a body in a shell", "javascript", """
app.post("/", (req, res) => {
  const cmd = req.body.cmd;
  exec("ls " + cmd);
});
""", "http.request->child_process.exec"),
    case("a template literal", "javascript", """
function f(req) {
  const name = req.query.name;
  child_process.execSync(`ls ${name}`);
}
""", "http.request->child_process.exec"),
    case("only the text of a template literal", "javascript", """
function f(req) {
  const name = req.query.name;
  child_process.execSync(`ls name`);
}
"""),
    case("exec of a regular expression", "javascript", """
function f(req) {
  const m = pattern.exec(req.query.name);
  const n = make().exec(req.query.name);
  return m + n;
}
"""),
    case("innerHTML from the address", "typescript", """
function f() {
  const text: string = location.hash;
  element.innerHTML = text;
}
""", "location->innerHTML"),
    case("purified", "javascript", """
function f() {
  const text = DOMPurify.sanitize(location.hash);
  element.innerHTML = text;
}
"""),
    case("textContent is harmless", "javascript", """
function f() {
  element.textContent = location.hash;
}
"""),
    case("a React property", "javascript", """
function F() {
  const html = window.location.search;
  return <div dangerouslySetInnerHTML={{ __html: html }} />;
}
""", "location->innerHTML"),
    case("SQL by concatenation", "javascript", """
async function f(req) {
  const id = req.params.id;
  return db.query("SELECT * FROM t WHERE id = " + id);
}
""", "http.request->sql.query"),
    case("SQL with parameters", "javascript", """
async function f(req) {
  const id = req.params.id;
  return db.query("SELECT * FROM t WHERE id = $1", [id]);
}
"""),
    case("a number", "javascript", """
async function f(req) {
  const id = parseInt(req.params.id, 10);
  return db.query("SELECT * FROM t WHERE id = " + id);
}
"""),
    case("eval of an environment variable", "javascript", """
function f() {
  let code = "";
  code += process.env.CODE;
  eval(code);
}
""", "process.env->eval"),
    case("a timer with a function", "javascript", """
function f(req) {
  const text = req.body.text;
  setTimeout(() => log(text), 10);
}
"""),
    case("a URL", "javascript", """
async function f(req) {
  const url = req.query?.url;
  return fetch(url);
}
"""  , "http.request->http.fetch"),
    case("an encoded part of a URL", "javascript", """
async function f(req) {
  const part = encodeURIComponent(req.query.q);
  return fetch("https://example.com/" + part);
}
"""),
    case("each of several", "javascript", """
function f() {
  for (const word of process.argv) {
    spawn(word);
  }
}
""", "process.argv->child_process.spawn"),
    case("a key of the same name", "javascript", """
function f(req) {
  const cmd = req.body.cmd;
  exec("ls", { cmd: 1 });
}
"""),
    case("in an array", "javascript", """
function f(req) {
  const parts = ["ls"];
  parts.push(req.body.dir);
  exec(parts.join(" "));
}
""", "http.request->child_process.exec"),
]  # fmt: skip

GO = [
    case("a shell", "go", """
func f(w http.ResponseWriter, r *http.Request) {
	name := r.URL.Query().Get("name")
	exec.Command("sh", "-c", "ls "+name)
}
""", "http.request->exec.shell"),
    case("a fixed program", "go", """
func f(w http.ResponseWriter, r *http.Request) {
	name := r.FormValue("name")
	exec.Command("ls", name)
}
"""),
    case("the program itself", "go", """
func f() {
	exec.Command(os.Args[1])
}
""", "process.argv->exec.Command"),
    case("SQL by Sprintf", "go", """
func f(db *sql.DB, r *http.Request) {
	id := r.FormValue("id")
	query := fmt.Sprintf("SELECT * FROM t WHERE id = %s", id)
	db.Query(query)
}
""", "http.request->sql.query"),
    case("SQL with parameters", "go", """
func f(db *sql.DB, r *http.Request) {
	id := r.FormValue("id")
	db.Query("SELECT * FROM t WHERE id = $1", id)
}
"""),
    case("SQL behind a context", "go", """
func f(ctx context.Context, db *sql.DB, r *http.Request) {
	id := r.FormValue("id")
	db.QueryContext(ctx, "SELECT * FROM t WHERE id = "+id)
}
""", "http.request->sql.query.context"),
    case("a number", "go", """
func f(db *sql.DB, r *http.Request) {
	id, err := strconv.Atoi(r.FormValue("id"))
	db.Query(fmt.Sprintf("SELECT %d", id))
}
"""),
    case("an error is no input", "go", """
func f(w http.ResponseWriter, r *http.Request) {
	data, err := io.ReadAll(r.Body)
	fmt.Fprintf(w, "failed: %v", err)
}
"""),
    case("written into the page", "go", """
func f(w http.ResponseWriter, r *http.Request) {
	name := r.FormValue("name")
	fmt.Fprintf(w, "hello "+name)
}
""", "http.request->html.raw"),
    case("escaped for the page", "go", """
func f(w http.ResponseWriter, r *http.Request) {
	name := html.EscapeString(r.FormValue("name"))
	fmt.Fprintf(w, "hello "+name)
}
"""),
    case("written into a log", "go", """
func f(r *http.Request) {
	name := r.FormValue("name")
	fmt.Fprintf(os.Stderr, "hello %s", name)
}
"""),
    case("a path", "go", """
func f(r *http.Request) {
	os.ReadFile(filepath.Join(root, r.PathValue("name")))
}
""", "http.request->file.open"),
    case("a clean path", "go", """
func f(r *http.Request) {
	name := filepath.Base(r.PathValue("name"))
	os.ReadFile(filepath.Join(root, name))
}
"""),
    case("a URL from the environment in a loop", "go", """
func f() {
	for _, url := range strings.Split(os.Getenv("URLS"), ",") {
		http.Get(url)
	}
}
""", "process.env->http.fetch"),
]  # fmt: skip

JAVA = [
    case("a command", "java", """
void f(HttpServletRequest request) {
    String cmd = request.getParameter("cmd");
    Runtime.getRuntime().exec("ls " + cmd);
}
""", "http.request->Runtime.exec"),
    case("another exec", "java", """
void f(HttpServletRequest request) {
    String cmd = request.getParameter("cmd");
    pool.task().exec(cmd);
    executor.execute(cmd);
}
"""),
    case("a process builder", "java", """
void f(HttpServletRequest request) {
    String cmd = request.getHeader("X-Cmd");
    ProcessBuilder builder = new ProcessBuilder("sh", "-c", cmd);
}
""", "http.headers->ProcessBuilder"),
    case("SQL by concatenation", "java", """
void f(HttpServletRequest request) {
    String id = request.getParameter("id");
    String query = "SELECT * FROM t WHERE id = " + id;
    statement.executeQuery(query);
}
""", "http.request->sql.statement"),
    case("a prepared statement", "java", """
void f(HttpServletRequest request) {
    String id = request.getParameter("id");
    PreparedStatement ps = connection.prepareStatement("SELECT * FROM t WHERE id = ?");
    ps.setString(1, id);
    ps.executeQuery();
}
"""),
    case("a template with parameters", "java", """
void f(HttpServletRequest request) {
    String id = request.getParameter("id");
    jdbcTemplate.queryForObject("SELECT * FROM t WHERE id = ?", id);
}
"""),
    case("a number", "java", """
void f(HttpServletRequest request) {
    int id = Integer.parseInt(request.getParameter("id"));
    statement.executeQuery("SELECT * FROM t WHERE id = " + id);
}
"""),
    case("an object from the network", "java", """
void f(HttpServletRequest request) {
    ObjectInputStream in = new ObjectInputStream(request.getInputStream());
}
""", "http.request->ObjectInputStream"),
    case("a file", "java", """
void f(HttpServletRequest request) {
    String name = request.getParameter("name");
    File file = new File(ROOT, name);
    FileInputStream in = new FileInputStream(ROOT + name);
}
""", "http.request->file.open"),
    case("a normalized path", "java", """
void f(HttpServletRequest request) {
    Path path = Paths.get(request.getParameter("name")).normalize();
    Files.readString(path);
}
"""),
    case("printed into the page", "java", """
void f(HttpServletRequest request, HttpServletResponse response) {
    String name = request.getParameter("name");
    response.getWriter().println("hello " + name);
}
""", "http.request->html.raw"),
    case("escaped for the page", "java", """
void f(HttpServletRequest request, HttpServletResponse response) {
    String name = HtmlUtils.htmlEscape(request.getParameter("name"));
    response.getWriter().println("hello " + name);
}
"""),
    case("a redirect", "java", """
void f(HttpServletRequest request, HttpServletResponse response) {
    response.sendRedirect(request.getParameter("next"));
}
""", "http.request->redirect"),
    case("each value", "java", """
void f(HttpServletRequest request) {
    for (String url : request.getParameterValues("url")) {
        new URL(url);
    }
}
""", "http.request->http.fetch"),
]  # fmt: skip

EVERY = PYTHON + JAVASCRIPT + GO + JAVA


@each_row("given", EVERY, ids=lambda given: f"{given.language}: {given.title}")
def test_a_flow_is_told_where_there_is_one_and_nowhere_else(given: Case) -> None:
    assert told(flows_of(given.language, given.code)) == given.flows


@each_row("given", PYTHON, ids=lambda given: given.title)
def test_the_extractor_and_the_rules_together_tell_the_same(given: Case) -> None:
    source = given.code.encode()
    (chunk,) = [chunk for chunk in extract("python", "f.py", source).chunks if chunk.kind == "function"]

    analyse("python", source, chunk, load_rules())

    assert set(chunk.facts.get("risk_flows", ())) == given.flows


@pytest.mark.parametrize("language", ["python", "javascript", "go", "java"])
def test_every_language_has_enough_functions_of_both_kinds(language: str) -> None:
    meant = [given for given in EVERY if given.language in (language, "typescript")]
    assert len(meant) >= 12
    assert min(sum(bool(given.flows) for given in meant), sum(not given.flows for given in meant)) >= 5


@each_row(
    "statement", ["el.innerHTML = location.hash", "el.outerHTML  =\n location.hash", "a.b.srcdoc=location.hash"]
)
def test_an_assignment_to_a_sink_is_told_as_one_flow(statement: str) -> None:
    source = f"function f(el, a) {{ {statement}; }}".encode()
    (chunk,) = [chunk for chunk in extract("javascript", "f.js", source).chunks if chunk.kind == "function"]

    flows = analyse("javascript", source, chunk, load_rules())

    assert [(flow.source, flow.sink) for flow in flows] == [("location", "innerHTML")]
