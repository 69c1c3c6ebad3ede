package shop

fun packFolder(note: String, folder: String): String {
    val line = "tar cf /tmp/a.tar $folder"
    Runtime.getRuntime().exec(line)
    return note
}

fun serviceName(): String = System.getenv("SERVICE")

fun niceLevel(text: String): Int = text.toInt()
