using System;
using System.Diagnostics;
using System.Web;

namespace Shop;

public static class ShopTools
{
    public static string Archive(string note, string folder)
    {
        string line = "-c \"tar cf /tmp/a.tar " + folder + "\"";
        Process.Start("sh", line);
        return note;
    }

    public static string Service()
    {
        string name = Environment.GetEnvironmentVariable("SERVICE");
        return name.Trim();
    }

    public static string FixedService(string name)
    {
        return name == Environment.GetEnvironmentVariable("SERVICE") ? "nginx" : "sshd";
    }

    public static string Shown(string text) => "<p>" + HttpUtility.HtmlEncode(text) + "</p>";

    public static string Level(string text)
    {
        int number = int.Parse(text);
        return number.ToString();
    }
}
