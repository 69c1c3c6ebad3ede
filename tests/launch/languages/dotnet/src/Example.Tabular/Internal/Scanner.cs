namespace Example.Tabular.Internal;

internal class Scanner { }
