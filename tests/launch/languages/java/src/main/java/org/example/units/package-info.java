/**
 * Lengths and their units.
 *
 * <p>Begin with {@link org.example.units.Length#of(double, java.lang.String)}.
 */
package org.example.units;
