package org.example.units.internal;

/** Not for users. */
public class Parser {}
