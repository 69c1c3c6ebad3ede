// Package queue keeps jobs until somebody does them.
package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	log "github.com/acme/logging/v2"
)

// ErrFull says that no more jobs are taken.
var ErrFull = errors.New("queue is full")

const DefaultSize = 64

const (
	Waiting State = iota
	Running
	Done
)

var (
	started time.Time
	names   = map[State]string{Waiting: "waiting", Running: "running"}
)

// State of a job.
type State int

type Handler func(ctx context.Context, job *Job) error

type (
	// ID of a job.
	ID = string

	Option func(*Queue)
)

// Job is one piece of work.
type Job struct {
	ID    ID     `json:"id"`
	Name  string `json:"name"`
	state State
}

// Store keeps jobs.
type Store interface {
	Save(job *Job) error
	Load(id ID) (*Job, error)
}

type number interface {
	~int | ~float64
}

// Queue hands jobs to handlers.
type Queue struct {
	sync.Mutex
	*Stats
	jobs    chan *Job
	store   Store
	handler map[string]Handler
}

type Stats struct {
	done, failed int
}

// New makes a queue.
func New(store Store, options ...Option) *Queue {
	q := &Queue{store: store, Stats: &Stats{}, jobs: make(chan *Job, DefaultSize)}
	for _, option := range options {
		option(q)
	}
	return q
}

func WithSize(size int) Option {
	return func(q *Queue) {
		q.jobs = make(chan *Job, size)
	}
}

func (s State) String() string {
	name, ok := names[s]
	if !ok {
		return fmt.Sprintf("state %d", int(s))
	}
	return name
}

// Push adds a job.
func (q *Queue) Push(job *Job) error {
	if job == nil {
		panic("no job")
	}
	select {
	case q.jobs <- job:
		return q.store.Save(job)
	default:
		return ErrFull
	}
}

func (q *Queue) Handle(name string, handler Handler) {
	q.Lock()
	defer q.Unlock()
	q.handler[name] = handler
}

func (q *Queue) Run(ctx context.Context, workers int) (err error) {
	var group sync.WaitGroup
	for i := 0; i < workers; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			q.work(ctx)
		}()
	}
	group.Wait()
	return
}

func (q *Queue) work(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case job, ok := <-q.jobs:
			if !ok {
				break
			}
			if err := q.do(ctx, job); err != nil {
				log.Error("job failed", job.ID, err)
				q.failed++
				continue
			}
			q.done += 1
		}
	}
}

func (q *Queue) do(ctx context.Context, job *Job) error {
	handler, ok := q.handler[job.Name]
	switch {
	case !ok:
		return fmt.Errorf("no handler for %q", job.Name)
	case job.state == Done || job.state == Running:
		return nil
	}
	job.state = Running
	err := handler(ctx, job)
	job.state = Done
	return err
}

func (s *Stats) Rate() float64 {
	all := s.done + s.failed
	if all == 0 {
		return 0
	}
	return float64(s.done) / float64(all)
}

func (Stats) kind() string { return "stats" }

// Memory is a store that forgets.
type Memory struct {
	mutex sync.RWMutex
	byID  map[ID]*Job
}

func NewMemory() *Memory { return &Memory{byID: map[ID]*Job{}} }

func (m *Memory) Save(job *Job) error {
	m.mutex.Lock()
	m.byID[job.ID] = job
	m.mutex.Unlock()
	return nil
}

func (m *Memory) Load(id ID) (*Job, error) {
	m.mutex.RLock()
	defer m.mutex.RUnlock()
	if job, ok := m.byID[id]; ok {
		return job, nil
	}
	return nil, errors.New("unknown job: " + id)
}

func (m *Memory) Delete(ids ...ID) (count int) {
	for _, id := range ids {
		if _, ok := m.byID[id]; ok {
			delete(m.byID, id)
			count++
		}
	}
	return
}

// Decode reads a job.
func Decode(data []byte) (*Job, error) {
	var job Job
	if err := json.Unmarshal(data, &job); err != nil {
		return nil, fmt.Errorf("decode: %w", err)
	}
	return &job, nil
}

func Map[T any, U number](items []T, convert func(T) U) []U {
	result := make([]U, 0, len(items))
	for _, item := range items {
		result = append(result, convert(item))
	}
	return result
}

type Tree[K comparable, V any] struct {
	left, right *Tree[K, V]
	key         K
	value       V
}

func (t *Tree[K, V]) Walk(visit func(K, V) bool) bool {
	if t == nil {
		return true
	}
	return t.left.Walk(visit) && visit(t.key, t.value) && t.right.Walk(visit)
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func kindOf(value any) string {
	switch v := value.(type) {
	case *Job:
		return "job " + v.Name
	case error, fmt.Stringer:
		return "text"
	default:
		return ""
	}
}

func init() {
	started = time.Now()
	names[Done] = "done"
}
