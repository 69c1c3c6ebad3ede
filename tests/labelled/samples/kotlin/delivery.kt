@file:JvmName("Delivery")

package shop.delivery

import java.io.IOException
import java.time.Duration
import kotlinx.coroutines.delay as pause
import shop.items.*

/** How often a parcel is tried. */
const val MAX_TRIES = 3
private val log = Logger.of("delivery")
internal var paused: Boolean = false

typealias Route = List<Stop>

/** Where a parcel is on its way. */
enum class Stage(val label: String) {
    PACKED("packed"),
    SENT("sent") {
        override fun next(): Stage = DONE
    },
    DONE("done");

    open fun next(): Stage = values()[ordinal + 1]
}

sealed interface Outcome {
    data class Delivered(val parcel: Parcel, val hours: Long = 0) : Outcome
    data object Lost : Outcome
    class Refused(val reason: String) : Outcome, Comparable<Refused> {
        override fun compareTo(other: Refused): Int = reason.compareTo(other.reason)
    }
}

fun interface Clock {
    fun now(): Long
}

@Serializable
data class Parcel(
    @SerialName("id") val code: String,
    val weight: Double = 1.5,
    private var tries: Int = 0,
    vararg val marks: String,
) : Item(code), Tracked by Tracker(code) {
    val isHeavy: Boolean
        get() {
            return weight > LIMIT
        }

    constructor(code: String) : this(code, 1.0) {
        tries = 1
    }

    fun tried(): Int {
        tries++
        return tries
    }

    companion object Factory {
        private const val LIMIT = 20.0

        @JvmStatic
        fun empty(): Parcel = Parcel("")
    }
}

abstract class Carrier<T : Any>(protected val name: String) {
    abstract suspend fun carry(parcel: Parcel, to: Stop): Outcome

    protected open fun describe(): String = "$name of ${this::class.simpleName}"
}

/**
 * Carries parcels by van.
 * One van, one driver.
 */
class Van @Inject constructor(
    private val clock: Clock,
    private val route: Route,
    name: String = "van",
) : Carrier<Parcel>(name) {
    private val queue = ArrayDeque<Parcel>()
    private val seen = mutableMapOf<String, Int>()
    private lateinit var driver: Driver
    val load: Double by lazy { queue.sumOf { it.weight } }

    init {
        require(route.isNotEmpty()) { "no stops" }
    }

    @Throws(IOException::class)
    override suspend fun carry(parcel: Parcel, to: Stop): Outcome {
        val (street, number) = to.address
        var left = MAX_TRIES
        while (left > 0 && !paused) {
            left -= 1
            val answer = try {
                driver.drive(street, number, quickly = true)
            } catch (e: IOException) {
                log.warn("lost $street: ${e.message}")
                continue
            }
            when {
                answer == null -> pause(Duration.ofSeconds(1))
                answer.isHome || answer.hasNeighbour -> return Outcome.Delivered(parcel)
                else -> throw RefusedException("at $number")
            }
        }
        return Outcome.Lost
    }

    private fun enqueue(parcels: Iterable<Parcel>, onEach: (Parcel, Int) -> Unit = { _, _ -> }) {
        for ((index, parcel) in parcels.withIndex()) {
            if (parcel.code in seen) continue
            if (queue.size >= 100) {
                break
            }
            queue.addLast(parcel)
            seen[parcel.code] = index
            onEach(parcel, index)
        }
    }

    fun find(code: String): Parcel? {
        queue.forEach { if (it.code == code) return it }
        val first = route.firstOrNull() ?: return null
        return first.parcels?.find { parcel -> parcel.code == code }
    }

    fun sort(order: Comparator<Parcel>) {
        do {
            val again = queue.swap(order)
        } while (again)
        val copy = queue
        copy.sortWith(order)
        driver.hours += 1
        this.driver = driver.copy()
    }

    inner class Seat(val number: Int) {
        fun belongsTo(): Van = this@Van
    }
}

object Registry : Iterable<Van> {
    private val vans: MutableList<Van> = mutableListOf()

    override operator fun iterator(): Iterator<Van> = vans.iterator()

    @Synchronized
    internal fun register(van: Van, size: Int = DEFAULT_SIZE) {
        val previous = vans as? ArrayList<Van>
        val number = 12L
        val ratio = 0.5f
        val label = 'v'
        val text = """van $number"""
        vans += van
        check(vans.size < size) { text + label + ratio }
    }
}

fun Parcel.heavier(other: Parcel?): Boolean = weight > (other?.weight ?: 0.0)

fun <T> List<T>.second(): T {
    if (size < 2) {
        error("too short")
    }
    return this[1]
}

val Parcel.shortCode: String
    get() = code.take(4)

inline fun <reified T : Carrier<*>> carriers(all: List<Any>): List<T> {
    fun keep(one: Any) = one is T

    return all.filter { keep(it) }.map { it as T }
}

fun watcher(van: Van) = object : Watcher, Closeable by van {
    override fun onChange(stage: Stage) {
        val kind = when (val next = stage.next()) {
            Stage.DONE, Stage.SENT -> 1
            is Any -> 2
            else -> 3
        }
        outer@ for (step in 0 until kind) {
            break@outer
        }
        van.publish<Stage>(stage)
    }
}

suspend fun main() {
    val van = Van(clock = { System.nanoTime() }, route = emptyList())
    van.carry(Parcel.empty(), Stop("a" to 1))
}

class Weight(val grams: Int) { fun heavy() = grams > LIMIT }

interface Listener { fun onStage() }

class Route { companion object { const val LIMIT = 8 } }
