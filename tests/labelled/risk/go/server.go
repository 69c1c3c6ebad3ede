package shop

import (
	"database/sql"
	"fmt"
	"html"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
)

// risk: http.request->exec.shell
func Ping(w http.ResponseWriter, r *http.Request) {
	host := r.FormValue("host")
	exec.Command("sh", "-c", "ping -c 1 "+host).Run()
}

// risk: none (no shell)
func PingSafely(w http.ResponseWriter, r *http.Request) {
	host := r.FormValue("host")
	exec.Command("ping", "-c", "1", host).Run()
}

// risk: http.request->sql.query
func ByName(db *sql.DB, r *http.Request) (*sql.Rows, error) {
	name := r.URL.Query().Get("name")
	statement := fmt.Sprintf("SELECT * FROM goods WHERE name = '%s'", name)
	return db.Query(statement)
}

// risk: none (bound)
func ByNameBound(db *sql.DB, r *http.Request) (*sql.Rows, error) {
	name := r.URL.Query().Get("name")
	return db.Query("SELECT * FROM goods WHERE name = $1", name)
}

// risk: http.request->file.open
func Download(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	data, err := os.ReadFile("/srv/files/" + name)
	if err == nil {
		w.Write(data)
	}
}

// risk: none (the last part only)
func DownloadSafely(w http.ResponseWriter, r *http.Request) {
	name := filepath.Base(r.PathValue("name"))
	data, err := os.ReadFile("/srv/files/" + name)
	if err == nil {
		w.Write(data)
	}
}

// risk: http.headers->html.raw
func Echo(w http.ResponseWriter, r *http.Request) {
	agent := r.Header.Get("User-Agent")
	fmt.Fprintf(w, "<p>%s</p>", agent)
}

// risk: none (escaped)
func EchoEscaped(w http.ResponseWriter, r *http.Request) {
	agent := html.EscapeString(r.Header.Get("User-Agent"))
	fmt.Fprintf(w, "<p>%s</p>", agent)
}

// risk: http.request->http.fetch
func Mirror(r *http.Request) (*http.Response, error) {
	address := r.FormValue("from")
	if address == "" {
		address = "http://a.example"
	}
	return http.Get(address)
}

// risk: none (only compared)
func MirrorKnown(r *http.Request) (*http.Response, error) {
	inside := r.FormValue("from") == "inside"
	if inside {
		return http.Get("http://a.example")
	}
	return http.Get("http://b.example")
}

// risk: http.request->redirect
func Leave(w http.ResponseWriter, r *http.Request) {
	http.Redirect(w, r, r.FormValue("next"), http.StatusFound)
}

// risk: none (a number)
func Page(w http.ResponseWriter, r *http.Request) {
	number, err := strconv.Atoi(r.FormValue("page"))
	if err != nil {
		return
	}
	http.Redirect(w, r, fmt.Sprintf("/list/%d", number), http.StatusFound)
}

// risk: process.env->file.change
func Forget() error {
	var folder string
	for _, name := range os.Args[1:] {
		_ = name
	}
	folder = os.Getenv("FOLDER")
	return os.RemoveAll(folder)
}

// risk: none (replaced)
func ForgetNothing() error {
	folder := os.Getenv("FOLDER")
	folder = "/tmp/none"
	return os.RemoveAll(folder)
}

// risk: cross http.request->exec.shell
func Pack(w http.ResponseWriter, r *http.Request) {
	folder := r.FormValue("folder")
	archive("now", folder)
}

// risk: none (the harmless parameter)
func PackFixed(w http.ResponseWriter, r *http.Request) {
	archive(r.FormValue("note"), "/srv/goods")
}

// risk: cross process.env->exec.shell
func Reload() error {
	line := "systemctl reload " + service()
	return exec.Command("sh", "-c", line).Run()
}

// risk: none (a constant of the helper)
func ReloadFixed() error {
	line := "systemctl reload " + fixedService("x")
	return exec.Command("sh", "-c", line).Run()
}

// risk: none (cleaned by the helper)
func Show(w http.ResponseWriter, r *http.Request) {
	fmt.Fprintf(w, "<p>%s</p>", shown(r.FormValue("text")))
}

// risk: none (made a number by the helper)
func Nice(r *http.Request) error {
	line := "nice -n " + level(r.FormValue("level"))
	return exec.Command("sh", "-c", line).Run()
}

// risk: http.request->exec.shell
func Wrong(r *http.Request) error {
	line := "ls " + shown(r.FormValue("what"))
	return exec.Command("sh", "-c", line).Run()
}

// risk: http.cookies->file.change
func Drop(r *http.Request) error {
	cookie, err := r.Cookie("place")
	if err != nil {
		return err
	}
	return os.Remove(cookie.Value)
}

type Tool struct{ db *sql.DB }

// risk: cross process.argv->sql.query
func (t *Tool) Ask() {
	name := os.Args[1]
	t.find(name)
}

func (t *Tool) find(name string) {
	db := t.db
	db.Query("SELECT * FROM goods WHERE name = '" + name + "'")
}

// risk: none (in a string and a comment)
func (t *Tool) Pretend() string {
	name := os.Args[1]
	_ = name
	// exec.Command("sh", "-c", name)
	return `exec.Command("sh", "-c", name)`
}
