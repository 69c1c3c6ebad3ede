module example.org/rings

go 1.21

require (
	golang.org/x/sync v0.6.0
	golang.org/x/sys v0.17.0 // indirect
)
