{ lib, stdenvNoCC, fetchurl, installShellFiles }:

let
  version = "@VERSION@";
  archives = {
    x86_64-linux = { system = "linux_amd64"; sha256 = "@SHA256 linux_amd64@"; };
    aarch64-linux = { system = "linux_arm64"; sha256 = "@SHA256 linux_arm64@"; };
    x86_64-darwin = { system = "darwin_amd64"; sha256 = "@SHA256 darwin_amd64@"; };
    aarch64-darwin = { system = "darwin_arm64"; sha256 = "@SHA256 darwin_arm64@"; };
  };
  archive = archives.${stdenvNoCC.hostPlatform.system};
in
stdenvNoCC.mkDerivation {
  pname = "mayfly";
  inherit version;
  src = fetchurl {
    url = "@RELEASES@/download/v${version}/mayfly_${archive.system}.tar.gz";
    inherit (archive) sha256;
  };
  nativeBuildInputs = [ installShellFiles ];
  installPhase = ''
    runHook preInstall
    install -Dm755 mayfly -t $out/bin
    installManPage man/*
    installShellCompletion completions/mayfly.{bash,zsh,fish}
    runHook postInstall
  '';
  meta = {
    description = "Temporary email inboxes in a terminal";
    homepage = "@URL@";
    license = lib.licenses.mit;
    mainProgram = "mayfly";
    platforms = builtins.attrNames archives;
  };
}
