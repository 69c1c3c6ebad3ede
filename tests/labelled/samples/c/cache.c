/*
 * A small cache of strings with an upper limit, and the loop that serves it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cache/hash.h"
#include CONFIG_HEADER

#ifndef CACHE_LIMIT
#define CACHE_LIMIT 128
#endif
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define for_each_entry(entry, cache) \
    for (entry = (cache)->first; entry; entry = entry->next)

typedef unsigned long hash_t;
typedef void (*visitor)(const char *key, void *context);

enum cache_status {
    CACHE_OK,
    CACHE_FULL = -1,
    CACHE_MISSING = -2
};

/* One key with its value. */
struct entry {
    char *key;
    char value[64];
    hash_t hash;
    struct entry *next;
    int (*compare)(const char *, const char *);
};

typedef struct cache {
    struct entry *first;
    struct {
        unsigned hits, misses;
    } stats;
    size_t used;
} cache_t;

typedef enum { LRU, FIFO } policy;

union number {
    int whole;
    double real;
};

static cache_t shared = { .first = NULL, .used = 0 };
const char *const version = "1.2", *build = "debug";
static int table[] = { 1, 2, 3 };
extern int verbose;

cache_t *cache_new(size_t limit);
static void report(const char *format, ...) __attribute__((format(printf, 1, 2)));
[[nodiscard]] int cache_count(const cache_t *cache);

/** Makes an empty cache. */
cache_t *cache_new(size_t limit)
{
    cache_t *cache = calloc(1, sizeof(*cache));
    if (!cache)
        return NULL;
    cache->used = 0;
    cache->stats.hits = cache->stats.misses = 0;
    (void)limit;
    return cache;
}

static inline hash_t hash_of(const char *key, size_t length)
{
    hash_t hash = 5381;
    for (size_t i = 0; i < length; i++)
        hash = hash * 33 + (unsigned char)key[i];
    return hash;
}

static struct entry *
find(const cache_t *cache, const char *key)
{
    struct entry *entry;
    hash_t wanted = hash_of(key, strlen(key));

    for (entry = cache->first; entry != NULL; entry = entry->next) {
        if (entry->hash != wanted)
            continue;
        if (entry->compare(entry->key, key) == 0 && entry->next != entry)
            break;
    }
    return entry;
}

// Stores a copy of the value.
enum cache_status cache_put(cache_t *cache, const char *key, const char *value)
{
    struct entry *entry = find(cache, key);
    if (entry == NULL) {
        if (cache->used >= CACHE_LIMIT)
            return CACHE_FULL;
        entry = malloc(sizeof(struct entry));
        if (!entry)
            goto failed;
        entry->key = strdup(key);
        entry->compare = strcmp;
        entry->next = cache->first;
        cache->first = entry;
        cache->used++;
    }
    strncpy(entry->value, value, sizeof(entry->value) - 1);
    entry->value[sizeof(entry->value) - 1] = '\0';
    return CACHE_OK;

failed:
    report("out of memory for %s", key);
    return CACHE_FULL;
}

const char *cache_get(cache_t *cache, const char *key, const char *missing)
{
    const struct entry *entry = find(cache, key);
    entry ? cache->stats.hits++ : cache->stats.misses++;
    return entry ? entry->value : missing;
}

void cache_visit(cache_t *cache, void (*visit)(const char *, void *), void *context)
{
    struct entry *entry = cache->first;
    while (entry) {
        visit(entry->key, context);
        (*visit)(entry->value, context);
        entry = entry->next;
    }
}

int cache_remove(cache_t *cache, const char *key)
{
    struct entry **link = &cache->first;
    do {
        if (!*link)
            return CACHE_MISSING;
        if (strcmp((*link)->key, key) == 0) {
            struct entry *dead = *link;
            *link = dead->next;
            free(dead->key);
            free(dead);
            cache->used -= 1;
            return CACHE_OK;
        }
        link = &(*link)->next;
    } while (1);
}

static visitor choose(char kind, int level)
{
    switch (kind) {
    case 'p':
    case 'P':
        return print_key;
    case 'n':
        if (level > 0 || verbose)
            break;
        return NULL;
    default:
        break;
    }
    return count_key;
}

int (*picker(int kind))(const char *, const char *)
{
    return kind ? strcmp : strcasecmp;
}

char **names(void) { return 0; }

static void report(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
}

#ifdef CACHE_MAIN
static int numbers[4];

static void count_arguments(int argc, char *argv[])
{
    union number total = { 0 };
    for (int i = 1; i < argc; ++i) {
        numbers[i % 4] += atoi(argv[i]);
        total.whole += numbers[i % 4];
    }
    printf("%d\n", total.whole);
}

int main(int argc, char **argv)
{
    char line[256];
    cache_t *cache = cache_new(MIN(argc, CACHE_LIMIT));
    count_arguments(argc, argv);
    while (fgets(line, sizeof line, stdin) != NULL) {
        char *equals = strchr(line, '=');
        if (!equals)
            continue;
        *equals++ = '\0';
        cache_put(cache, line, equals);
    }
    system(getenv("CACHE_DONE"));
    return EXIT_SUCCESS;
}
#else
int cache_unused(void) { return 0; }
#endif

void cache_free(cache_t *cache)
{
    struct entry *entry, *next;
    for (entry = cache->first; entry; entry = next) {
        next = entry->next;
        free(entry->key);
        free(entry);
    }
    free(cache);
}

noreturn void cache_panic(void);
struct forward;
int old_style(a, b) int a; char *b; { return a; }
int *first_free, free_slots[8];
static const struct entry nothing;

/* Größe in Bytes. */
size_t cache_größe(const cache_t *cache, size_t (*measure)(const struct entry *), int depth[4])
{
    size_t sum = 0;
    struct entry *entry = cache ? cache->first : NULL;
    for (; entry; entry = entry->next) {
        sum += measure ? measure(entry) : sizeof(*entry);
        depth[0]++;
        shared.stats.hits = sum;
    }
    return sum;
}

typedef void *(*allocator)(void *state, size_t size);

struct limits { int most; } default_limits = { 8 };

CACHE_API cache_t CACHE_CALL
cache_copy(const cache_t *cache) CACHE_PURE
{
    return *cache;
}
