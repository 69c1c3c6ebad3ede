using System.Data.SqlClient;
using System.Diagnostics;
using System.IO;
using Microsoft.AspNetCore.Mvc;

namespace Shop;

public class ShopController : Controller
{
    private readonly SqlConnection connection;

    // risk: http.request->Process.Start
    public void Ping()
    {
        string host = Request.Query["host"];
        Process.Start("sh", "-c \"ping -c 1 " + host + "\"");
    }

    // risk: none (a constant)
    public void PingFixed()
    {
        string host = Request.Query["host"];
        if (host != null)
        {
            Process.Start("ping", "localhost");
        }
    }

    // risk: http.request->sql.command
    public SqlDataReader ByName()
    {
        var name = Request.Form["name"];
        var command = new SqlCommand($"SELECT * FROM goods WHERE name = '{name}'", connection);
        return command.ExecuteReader();
    }

    // risk: none (bound)
    public SqlDataReader ByNameBound()
    {
        var name = Request.Form["name"];
        var command = new SqlCommand("SELECT * FROM goods WHERE name = @name", connection);
        command.Parameters.AddWithValue("@name", name);
        return command.ExecuteReader();
    }

    // risk: http.request->file.open
    public string Download()
    {
        string path = Path.Combine("/srv/files", Request.Query["file"]);
        return System.IO.File.ReadAllText(path);
    }

    // risk: none (the last part only)
    public string DownloadSafely()
    {
        string path = Path.Combine("/srv/files", Path.GetFileName(Request.Query["file"]));
        return System.IO.File.ReadAllText(path);
    }

    // risk: http.headers->html.raw
    public IActionResult Echo()
    {
        var agent = Request.Headers["User-Agent"];
        return Content("<p>" + agent + "</p>", "text/html");
    }

    // risk: none (encoded)
    public IActionResult EchoEncoded()
    {
        var agent = HttpUtility.HtmlEncode(Request.Headers["User-Agent"]);
        return Content("<p>" + agent + "</p>", "text/html");
    }

    // risk: http.request->redirect
    public IActionResult Leave()
    {
        return Redirect(Request.Query["next"]);
    }

    // risk: none (a number)
    public IActionResult Page()
    {
        int number = int.Parse(Request.Query["page"]);
        return Redirect("/list/" + number);
    }

    // risk: http.request->http.fetch
    public async Task<string> Mirror(HttpClient client)
    {
        string address = Request.Query["from"];
        return await client.GetStringAsync(address);
    }

    // risk: none (only compared)
    public async Task<string> MirrorKnown(HttpClient client)
    {
        bool inside = Request.Query["from"] == "inside";
        return await client.GetStringAsync(inside ? "http://a.example" : "http://b.example");
    }

    // risk: http.cookies->deserialize
    public object Restore(BinaryFormatter formatter)
    {
        var bytes = Convert.FromBase64String(Request.Cookies["state"]);
        var stream = new MemoryStream(bytes);
        return formatter.Deserialize(stream);
    }

    // risk: none (replaced)
    public IActionResult LeaveHome()
    {
        string next = Request.Query["next"];
        next = "/";
        return Redirect(next);
    }

    // risk: http.request->Process.Start
    public void Convert()
    {
        var info = new ProcessStartInfo();
        info.FileName = "convert";
        foreach (var word in Request.Form["words"])
        {
            info.Arguments += " " + word;
        }
        info.Arguments = "a " + Request.Form["target"];
    }

    // risk: cross http.request->Process.Start
    public void Pack()
    {
        string folder = Request.Form["folder"];
        ShopTools.Archive("now", folder);
    }

    // risk: none (the harmless parameter)
    public void PackFixed()
    {
        ShopTools.Archive(Request.Form["note"], "/srv/goods");
    }

    // risk: cross process.env->Process.Start
    public void Reload()
    {
        string line = "-c \"systemctl reload " + ShopTools.Service() + "\"";
        Process.Start("sh", line);
    }

    // risk: none (a constant of the helper)
    public void ReloadFixed()
    {
        Process.Start("sh", "-c " + ShopTools.FixedService("x"));
    }

    // risk: none (cleaned by the helper)
    public IActionResult Show()
    {
        return Content(ShopTools.Shown(Request.Query["text"]), "text/html");
    }

    // risk: none (made a number by the helper)
    public void Nice()
    {
        Process.Start("nice", "-n " + ShopTools.Level(Request.Query["level"]));
    }

    // risk: http.request->Process.Start
    public void Wrong()
    {
        Process.Start("ls", ShopTools.Shown(Request.Query["what"]));
    }

    // risk: cross http.request->sql.command
    public object Find()
    {
        string id = Request.Query["id"];
        return Load(id);
    }

    private object Load(string id)
    {
        var command = new SqlCommand("SELECT * FROM orders WHERE id = " + id, connection);
        return command.ExecuteScalar();
    }

    // risk: none (in a string and a comment)
    public string Pretend()
    {
        string id = Request.Query["id"];
        // Process.Start(id);
        return "Process.Start(id)";
    }
}
