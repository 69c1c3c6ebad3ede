package shop

import (
	"html"
	"os"
	"os/exec"
	"strconv"
)

func archive(note string, folder string) string {
	line := "tar cf /tmp/a.tar " + folder
	exec.Command("sh", "-c", line).Run()
	return note
}

func service() string {
	name := os.Getenv("SERVICE")
	return name
}

func fixedService(name string) string {
	if name == os.Getenv("SERVICE") {
		return "nginx"
	}
	return "sshd"
}

func shown(text string) string {
	return html.EscapeString(text)
}

func level(text string) string {
	number, err := strconv.Atoi(text)
	if err != nil {
		return "0"
	}
	return strconv.Itoa(number)
}
