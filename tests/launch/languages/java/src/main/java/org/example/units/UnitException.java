package org.example.units;

/** A unit is not known. */
public class UnitException extends RuntimeException {
    /**
     * Makes one.
     *
     * @param unit the unit that is not known
     */
    public UnitException(String unit) {
        super(unit);
    }
}
