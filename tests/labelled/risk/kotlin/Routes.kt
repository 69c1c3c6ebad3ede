package shop

import java.io.File

// risk: http.request->Runtime.exec
fun pingRoute(call: ApplicationCall) {
    val host = call.request.queryParameters["host"]
    Runtime.getRuntime().exec("ping -c 1 $host")
}

// risk: none (a number)
fun pingTimes(call: ApplicationCall) {
    val count = call.request.queryParameters["count"]!!.toInt()
    Runtime.getRuntime().exec("ping -c $count localhost")
}

// risk: http.request->sql.raw
fun byNameRoute(db: SQLiteDatabase, call: ApplicationCall): Cursor {
    val name = call.parameters["name"]
    return db.rawQuery("SELECT * FROM goods WHERE name = '$name'", null)
}

// risk: none (a constant)
fun everything(db: SQLiteDatabase, call: ApplicationCall): Cursor {
    val name = call.parameters["name"]
    return db.rawQuery("SELECT * FROM goods", null)
}

// risk: process.env->file.open
fun settings(): String {
    val place = System.getenv("SETTINGS")
    return File(place).readText()
}

// risk: none (replaced)
fun noSettings(): String {
    var place = System.getenv("SETTINGS")
    place = "/etc/shop"
    return File(place).readText()
}

// risk: process.stdin->Runtime.exec
fun askAndRun() {
    val line = readln()
    Runtime.getRuntime().exec(line)
}

// risk: none (only compared)
fun askAndChoose() {
    val line = readln()
    val program = if (line == "inside") "a" else "b"
    Runtime.getRuntime().exec(program)
}

// risk: cross http.request->Runtime.exec
suspend fun packRoute(call: ApplicationCall) {
    val folder = call.parameters["folder"]!!
    packFolder("now", folder)
}

// risk: none (the harmless parameter)
suspend fun packFixedRoute(call: ApplicationCall) {
    packFolder(call.parameters["note"]!!, "/srv/goods")
}

// risk: cross process.env->Runtime.exec
fun reloadRoute() {
    val line = "systemctl reload " + serviceName()
    Runtime.getRuntime().exec(line)
}

// risk: none (made a number by the helper)
fun niceRoute(call: ApplicationCall) {
    Runtime.getRuntime().exec("nice -n " + niceLevel(call.parameters["level"]!!))
}
