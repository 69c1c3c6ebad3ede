#include <stdlib.h>
#include <stdio.h>

const char *archive(const char *note, const char *folder) {
    char line[300];
    snprintf(line, sizeof line, "tar cf /tmp/a.tar %s", folder);
    system(line);
    return note;
}

char *service_line(void) {
    char *line = getenv("LINE");
    return line;
}
