package org.example.units;

import java.util.Objects;

/**
 * A length with a unit.
 *
 * <p>Lengths are immutable. Use them like this:
 *
 * <pre>{@code
 * Length length = Length.of(1, "m");
 * Map<String, Length> byName = Map.of("one", length);
 * }</pre>
 *
 * <ul>
 *   <li>Millimetres are the <b>smallest</b> unit.
 *   <li>Use {@code null} nowhere.
 * </ul>
 *
 * @since 1.0
 */
public final class Length implements Comparable<Length> {

    /** No length at all. */
    public static final Length ZERO = new Length(0, "m");

    private final double value;

    private Length(final double value, final String unit) {
        this.value = value;
    }

    /**
     * Makes a length.
     *
     * @param value how many units
     * @param unit the name of the unit, such as {@code km}
     * @return a length, never {@code null}
     * @throws UnitException if the unit is unknown
     */
    public static Length of(final double value, final String unit) throws UnitException {
        return new Length(value, unit);
    }

    /**
     * Makes a length in metres.
     *
     * @param metres how many metres
     * @return the length
     */
    public static Length of(final double metres) {
        return ZERO;
    }

    /**
     * Converts it to another unit.
     *
     * @param unit the other unit
     * @return the number of those units
     * @deprecated use {@link #of(double)} and compare
     */
    @Deprecated
    public double in(final String unit) {
        return value;
    }

    @Override
    public int compareTo(final Length other) {
        return 0;
    }

    /** Collects options. */
    public static class Builder {
        /** Ends the building. */
        public Length build() {
            return ZERO;
        }
    }

    static void internal() {}
}
