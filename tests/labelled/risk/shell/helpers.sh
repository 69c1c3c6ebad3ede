evaluate() {
    local note="$1"
    local expression="$2"
    echo "$note"
    eval "$expression"
}
