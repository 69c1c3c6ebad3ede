#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "helpers.h"

/* risk: process.env->system */
void ping(void) {
    char *host = getenv("HOST");
    char line[200];
    snprintf(line, sizeof line, "ping -c 1 %s", host);
    system(line);
}

/* risk: none (a constant) */
void ping_fixed(void) {
    char *host = getenv("HOST");
    if (host != NULL) {
        system("ping -c 1 localhost");
    }
}

/* risk: process.stdin->sql.exec */
void by_name(sqlite3 *db) {
    char name[100];
    char statement[300];
    fgets(name, sizeof name, stdin);
    sprintf(statement, "SELECT * FROM goods WHERE name = '%s'", name);
    sqlite3_exec(db, statement, 0, 0, 0);
}

/* risk: none (a number) */
void by_number(sqlite3 *db) {
    char line[100];
    char statement[300];
    fgets(line, sizeof line, stdin);
    int number = atoi(line);
    sprintf(statement, "SELECT * FROM goods WHERE id = %d", number);
    sqlite3_exec(db, statement, 0, 0, 0);
}

/* risk: process.argv->file.open */
int main(int argc, char **argv) {
    FILE *file = fopen(argv[1], "r");
    return file == NULL;
}

/* risk: process.stdin->format.string */
void echo(void) {
    char line[100];
    fgets(line, sizeof line, stdin);
    printf(line);
}

/* risk: none (a fixed format) */
void echo_fixed(void) {
    char line[100];
    fgets(line, sizeof line, stdin);
    printf("%s", line);
}

/* risk: process.env->unbounded.copy */
void copy_home(void) {
    char place[20];
    const char *home = getenv("HOME");
    strcpy(place, home);
}

/* risk: none (bounded) */
void copy_home_bounded(void) {
    char place[20];
    const char *home = getenv("HOME");
    strncpy(place, home, sizeof place - 1);
}

/* risk: cross process.env->system */
void pack(void) {
    char *folder = getenv("FOLDER");
    archive("now", folder);
}

/* risk: none (the harmless parameter) */
void pack_fixed(void) {
    archive(getenv("NOTE"), "/srv/goods");
}

/* risk: cross process.env->system */
void reload(void) {
    system(service_line());
}

/* risk: none (replaced) */
void reload_nothing(void) {
    char *line = getenv("LINE");
    line = "true";
    system(line);
}
