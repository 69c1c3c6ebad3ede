# A package.
{ pkgs ? import <nixpkgs> {}, lib, ... }:
let
  version = "1.0";
  # Doubles.
  double = x: x * 2;
  add = { a, b }: a + b;
in
rec {
  inherit version;
  shop = pkgs.stdenv.mkDerivation {
    pname = "shop";
    buildPhase = ''
      make
    '';
  };
  services.web.enable = true;
  helper = a: b: a;
}
