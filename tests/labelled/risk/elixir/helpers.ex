defmodule Shop.Helpers do
  def archive(note, folder) do
    line = "tar cf /tmp/a.tar #{folder}"
    System.shell(line)
    note
  end

  def service do
    System.get_env("SERVICE")
  end
end
