package shop.util

import scala.collection.mutable.ListBuffer

/** A queue in two lists. */
class Ring[+A] protected (protected val in: List[A], protected val out: List[A])
    extends Iterable[A]
    with Serializable {

  override def iterator: Iterator[A] = (out ::: in.reverse).iterator

  override def isEmpty: Boolean = in.isEmpty && out.isEmpty

  override def tail: Ring[A] =
    if (out.nonEmpty) new Ring(in, out.tail)
    else throw new NoSuchElementException("tail of an empty ring")

  /** How many there are. */
  def length = in.length + out.length

  def +:[B >: A](item: B): Ring[B] = new Ring(in, item :: out)

  def push[B >: A](items: Iterable[B]) =
    new Ring(items.toList reverse_::: in, out)

  // What follows changes nothing.

  /** The first one and the rest. */
  def take: (A, Ring[A]) = out match {
    case Nil if !in.isEmpty => val rev = in.reverse; (rev.head, new Ring(Nil, rev.tail))
    case x :: xs => (x, new Ring(in, xs))
    case _ => throw new NoSuchElementException("empty")
  }
}

object Ring {
  private object Empty extends Ring[Nothing](Nil, Nil) {}

  val Limit = 10

  def apply[A](items: A*): Ring[A] = {
    val all = new ListBuffer[A]
    for (item <- items) all += item
    new Ring(Nil, all.toList)
  }
  // the end
}
