# frozen_string_literal: true

require "time"
require_relative "paths"

module Gallery
  # Shows the pictures of a folder.
  class IndexPage
    HEADER = <<~HTML
      <h1>%s</h1>
      <ul>
    HTML
    FOOTER = <<~HTML.freeze
      </ul>
    HTML
    UNITS = [["%.1fM", 1 << 20], ["%.1fK", 1 << 10]].freeze

    Entry = Struct.new(:name, :size)

    def initialize(root, app = nil)
      @root = ::File.expand_path(root)
      @prefix = @root.end_with?(::File::SEPARATOR) ? @root : "#{@root}/"
      @app = app || ::Gallery::Files.new(@root)
    end

    def each
      yield format(HEADER, @root)
      ::Dir.foreach(@root) do |name|
        next if name.start_with?(".")
        next unless (entry = entry_of(name))
        yield entry.name
      end
      yield FOOTER
    end

    def size_of(bytes)
      UNITS.each do |pattern, size|
        return format(pattern, bytes.to_f / size) if bytes >= size
      end
      "#{bytes}B"
    end

    def banner = <<~TEXT
      Pictures of #{@root}
    TEXT

    private

    def entry_of(name)
      path = ::File.join(@root, name)
      raise ::Gallery::Errors::Outside, path unless path.start_with?(@prefix)
      Entry.new(name, ::File.size(path))
    rescue Errno::ENOENT, Errno::ELOOP
      nil
    end
  end
end
