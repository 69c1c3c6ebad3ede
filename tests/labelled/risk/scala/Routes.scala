package goods

import scala.io.{Source, StdIn}
import scala.sys.process.Process

object Routes {
  // risk: process.env->process.run
  def pingHost(): Unit = {
    val host = sys.env("HOST")
    Process(s"ping -c 1 $host").!
  }

  // risk: none (a number)
  def pingCount(): Unit = {
    val count = sys.env("COUNT").toInt
    Process(s"ping -c $count localhost").!
  }

  // risk: http.request->sql.raw
  def namedRows(request: Request[AnyContent]) = {
    val name = request.getQueryString("name")
    SQL(s"SELECT * FROM goods WHERE name = '$name'")
  }

  // risk: none (a constant)
  def allRows(request: Request[AnyContent]) = {
    val name = request.getQueryString("name")
    SQL("SELECT * FROM goods")
  }

  // risk: process.stdin->file.open
  def showFile(): String = {
    val place = StdIn.readLine()
    Source.fromFile("/srv/" + place).mkString
  }

  // risk: none (replaced)
  def showNothing(): String = {
    var place = StdIn.readLine()
    place = "none"
    Source.fromFile("/srv/" + place).mkString
  }

  // risk: http.request->redirect
  def leaveShop(request: Request[AnyContent]) = {
    val target = request.getQueryString("next")
    Redirect(target)
  }

  // risk: none (only compared)
  def leaveKnown(request: Request[AnyContent]) = {
    val inside = request.uri == "/inside"
    Redirect(if (inside) "/a" else "/b")
  }

  // risk: cross http.request->process.run
  def packGoods(request: Request[AnyContent]) = {
    val folder = request.getQueryString("folder")
    RouteTools.tarFolder("now", folder)
  }

  // risk: none (the harmless parameter)
  def packNothing(request: Request[AnyContent]) = {
    RouteTools.tarFolder(request.getQueryString("note"), "/srv/goods")
  }

  // risk: cross process.env->process.run
  def reloadUnit() = {
    val line = "systemctl reload " + RouteTools.unitName()
    Process(line).!
  }

  // risk: none (made a number by the helper)
  def niceMake(request: Request[AnyContent]) = {
    Process("nice -n " + RouteTools.levelNumber(request.uri)).!
  }
}
