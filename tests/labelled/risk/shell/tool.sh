#!/bin/bash

source ./helpers.sh

# risk: process.stdin->eval
ask() {
    read -r line
    eval "$line"
}

# risk: none (shown only)
ask_and_show() {
    read -r line
    echo "$line"
}

# risk: http.request->file.change
forget() {
    name=${QUERY_STRING#name=}
    rm -rf "/srv/$name"
}

# risk: none (the last part only)
forget_safely() {
    name=$(basename "$QUERY_STRING")
    rm -rf "/srv/$name"
}

# risk: process.env->shell.exec
login() {
    command="$SSH_ORIGINAL_COMMAND"
    bash -c "$command"
}

# risk: none (replaced)
login_fixed() {
    command="$SSH_ORIGINAL_COMMAND"
    command="true"
    bash -c "$command"
}

# risk: http.request->sql.client
by_name() {
    psql -c "SELECT * FROM goods WHERE name = '$PATH_INFO'"
}

# risk: none (a constant)
everything() {
    if [ -n "$PATH_INFO" ]; then
        psql -c "SELECT * FROM goods"
    fi
}

# risk: process.stdin->http.fetch
mirror() {
    read -r address
    curl -s "$address"
}

# risk: none (in single quotes)
mirror_nothing() {
    read -r address
    curl -s '$address'
}

# risk: cross process.stdin->eval
compute() {
    read -r expression
    evaluate now "$expression"
}

# risk: none (the harmless parameter)
compute_fixed() {
    read -r note
    evaluate "$note" "1 + 1"
}
