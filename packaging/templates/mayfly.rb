class Mayfly < Formula
  desc "Temporary email inboxes in a terminal"
  homepage "@URL@"
  version "@VERSION@"
  license "MIT"

  on_macos do
    on_arm do
      url "@RELEASES@/download/v@VERSION@/mayfly_darwin_arm64.tar.gz"
      sha256 "@SHA256 darwin_arm64@"
    end
    on_intel do
      url "@RELEASES@/download/v@VERSION@/mayfly_darwin_amd64.tar.gz"
      sha256 "@SHA256 darwin_amd64@"
    end
  end

  on_linux do
    on_arm do
      url "@RELEASES@/download/v@VERSION@/mayfly_linux_arm64.tar.gz"
      sha256 "@SHA256 linux_arm64@"
    end
    on_intel do
      url "@RELEASES@/download/v@VERSION@/mayfly_linux_amd64.tar.gz"
      sha256 "@SHA256 linux_amd64@"
    end
  end

  def install
    bin.install "mayfly"
    man1.install Dir["man/*"]
    bash_completion.install "completions/mayfly.bash" => "mayfly"
    zsh_completion.install "completions/mayfly.zsh" => "_mayfly"
    fish_completion.install "completions/mayfly.fish"
  end

  test do
    assert_match "v#{version}", shell_output("#{bin}/mayfly version")
  end
end
