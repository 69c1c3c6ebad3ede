package bank
package core

import java.time.{Duration, Instant => Moment}
import scala.collection.mutable
import scala.concurrent._
import scala.util.control.NonFatal

/** What moves between accounts. */
final case class Amount(cents: Long, currency: String = "EUR") extends Ordered[Amount] {
  def +(other: Amount): Amount = copy(cents = cents + other.cents)
  override def compare(that: Amount): Int = cents.compare(that.cents)
  def isZero: Boolean = cents == 0L
}

object Amount {
  val Zero = Amount(0)
  implicit val ordering: Ordering[Amount] = Ordering.by(_.cents)

  def parse(text: String): Option[Amount] = text.split(' ') match {
    case Array(number, currency) if number.nonEmpty => Some(Amount(number.toLong, currency))
    case Array(number) => Some(Amount(number.toLong))
    case _ => None
  }
}

sealed trait Event
case object Opened extends Event
case class Moved(from: String, to: String, amount: Amount) extends Event with Serializable

class Refused(val reason: String) extends RuntimeException(reason)

trait Ledger[F[_]] {
  type Id = Long

  def append(event: Event): F[Unit]

  protected def size: Int
}

/**
 * Keeps accounts in memory.
 * Not for real money.
 */
abstract class MemoryBank(val name: String, private[bank] var limit: Int = 10)(implicit ec: ExecutionContext)
    extends Ledger[Future](name)
    with AutoCloseable {
  private val accounts = mutable.Map.empty[String, Amount]
  private val events: mutable.Buffer[Event] = mutable.Buffer()
  lazy val opened = Moment.now()
  var isOpen = true

  @throws[Refused]("when there is too little")
  final def transfer(from: String, to: String, amount: Amount)(implicit clock: Clock): Future[Unit] = {
    if (!isOpen || amount.isZero) {
      throw new Refused(s"closed: $name, ${amount.cents} cents")
    }
    val Amount(cents, currency) = balance(from)
    val (low, high) = bounds(currency)
    if (cents < low && cents > high) throw Refused.tooLittle(from)
    accounts(from) = Amount(cents - amount.cents)
    accounts.update(to, amount)
    events += Moved(from, to, amount)
    this.limit = limit - 1
    append(Moved(from, to, amount = amount))
  }

  def balance(account: String): Amount =
    accounts.getOrElse(account, Amount.Zero)

  def history(since: Moment, kinds: Class[_]*): List[Event] = {
    val found = for {
      event <- events.toList
      (kind, index) <- kinds.zipWithIndex
      if kind.isInstance(event)
    } yield event
    found.sortBy(event => event.hashCode)
  }

  override def close(): Unit = {
    var left = 3
    while (left > 0) {
      left -= 1
      try flush()
      catch {
        case e: java.io.IOException => log.warn("again", e)
        case NonFatal(other) => throw other
      } finally {
        isOpen = false
      }
    }
    for (event <- events) println(event)
  }

  private def flush(): Unit = {
    val writer = new java.io.StringWriter()
    val buffer = new StringBuilder
    val rate = 0.5
    val copy = events
    def one(event: Event) = buffer.append(event)
    copy foreach one
    do { rest() } while (hasMore)
    return
  }

  def this(name: String) = this(name, 5)
}

// Scala 3 from here on.

enum Colour(val rgb: Int):
  case Red extends Colour(0xff0000)
  case Mixed(left: Colour, right: Colour) extends Colour(0)

  def isDark: Boolean = rgb < 100

given byName: Ordering[MemoryBank] with
  def compare(left: MemoryBank, right: MemoryBank): Int =
    left.name.compareTo(right.name)

given Conversion[Int, Amount] = Amount(_)

extension (amount: Amount)
  def doubled: Amount = amount + amount
  def times(n: Int): Amount = Amount(amount.cents * n)

opaque type Pin = String

inline def checked(pin: Pin)(using rules: Rules): Boolean =
  if pin.isEmpty then false
  else rules.all.forall(_.allows(pin))

@main def run(args: String*): Unit =
  val bank = MemoryBank(args.head)
  val names: List[String] = args.toList
  names.zip(names.tail).foreach { (from, to) =>
    bank.transfer(from, to, Amount.Zero)
  }
  bank match
    case memory: MemoryBank => memory.close()
    case Special => ()
    case other => sys.error("unknown")
end run
