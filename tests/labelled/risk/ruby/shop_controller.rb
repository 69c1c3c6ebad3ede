require_relative 'helpers'

class ShopController < ApplicationController
  # risk: http.request->system
  def ping
    host = params[:host]
    system("ping -c 1 #{host}")
  end

  # risk: none (arguments of a fixed program)
  def ping_safely
    system("ping", "-c", "1", params[:host])
  end

  # risk: http.request->system
  def trace
    output = `traceroute #{params[:host]}`
    render plain: output
  end

  # risk: none (escaped)
  def trace_escaped
    host = Shellwords.escape(params[:host])
    system("traceroute #{host}")
  end

  # risk: http.request->sql.query
  def by_name
    name = params[:name]
    @goods = Good.where("name = '#{name}'")
  end

  # risk: none (bound)
  def by_name_bound
    @goods = Good.where("name = ?", params[:name])
  end

  # risk: none (a hash of conditions)
  def by_name_hash
    @goods = Good.where(name: params[:name])
  end

  # risk: http.request->eval
  def compute
    expression = params[:expression]
    render plain: eval(expression)
  end

  # risk: none (a number)
  def page
    number = params[:page].to_i
    redirect_to("/list/#{number}")
  end

  # risk: http.cookies->unserialize
  def restore
    state = Base64.decode64(cookies[:state])
    @cart = Marshal.load(state)
  end

  # risk: none (parsed, not made into objects)
  def restore_json
    @cart = JSON.parse(cookies[:state])
  end

  # risk: http.request->file.open
  def download
    path = "/srv/files/" + params[:file]
    send_file(path)
  end

  # risk: none (the last part only)
  def download_safely
    path = "/srv/files/" + File.basename(params[:file])
    send_file(path)
  end

  # risk: http.request->redirect
  def leave
    redirect_to(params[:next])
  end

  # risk: none (replaced)
  def leave_home
    target = params[:next]
    target = "/"
    redirect_to(target)
  end

  # risk: http.request->http.fetch
  def mirror
    address = params[:from]
    address = "http://#{address}" unless address.start_with?("http")
    Net::HTTP.get(URI(address))
  end

  # risk: none (only compared)
  def mirror_known
    inside = params[:from] == "inside"
    Net::HTTP.get(URI(inside ? "http://a.example" : "http://b.example"))
  end

  # risk: cross http.request->system
  def pack
    folder = params[:folder]
    archive("now", folder)
  end

  # risk: none (the harmless parameter)
  def pack_fixed
    archive(params[:note], "/srv/goods")
  end

  # risk: cross process.env->system
  def reload
    system("systemctl reload #{service_name}")
  end

  # risk: cross process.env->system
  def restart
    name = service_name()
    system("systemctl restart " + name)
  end

  # risk: none (cleaned by the helper)
  def speak
    system("say " + quoted(params[:text]))
  end

  # risk: none (made a number by the helper)
  def nice
    system("nice -n #{level_of(params[:level])} make")
  end

  # risk: http.request->file.change
  def forget
    FileUtils.rm_rf(quoted(params[:folder]))
  end

  # risk: cross http.request->sql.query
  def find
    id = params[:id]
    load_order(id)
  end

  # risk: none (in a string and a comment)
  def pretend
    id = params[:id]
    # system(id)
    render plain: 'system(id)'
  end

  # risk: none (a parameter of that name)
  def build(params)
    system("make #{params[:target]}")
  end

  private

  def load_order(id)
    @order = Order.find_by_sql("SELECT * FROM orders WHERE id = " + id)
  end
end
