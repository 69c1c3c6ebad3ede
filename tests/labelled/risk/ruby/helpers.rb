def archive(note, folder)
  line = "tar cf /tmp/a.tar #{folder}"
  system(line)
  note
end

def service_name
  name = ENV["SERVICE"]
  name.strip
end

def quoted(text)
  Shellwords.escape(text)
end

def level_of(text)
  Integer(text)
end
