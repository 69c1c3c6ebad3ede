package goods

import scala.sys.process.Process

object RouteTools {
  def tarFolder(note: String, folder: String): String = {
    val line = s"tar cf /tmp/a.tar $folder"
    Process(line).!
    note
  }

  def unitName(): String = sys.env("UNIT").trim

  def levelNumber(text: String): Int = text.toInt
}
