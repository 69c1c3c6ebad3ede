package shop;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;

class Shop {
    private Connection connection;

    // risk: http.request->Runtime.exec
    void ping(HttpServletRequest request) throws IOException {
        String host = request.getParameter("host");
        Runtime.getRuntime().exec("ping -c 1 " + host);
    }

    // risk: none (a constant)
    void pingFixed(HttpServletRequest request) throws IOException {
        String host = request.getParameter("host");
        if (host != null) {
            Runtime.getRuntime().exec("ping -c 1 localhost");
        }
    }

    // risk: http.request->sql.statement
    ResultSet byName(HttpServletRequest request) throws Exception {
        String name = request.getParameter("name");
        Statement statement = connection.createStatement();
        return statement.executeQuery("SELECT * FROM goods WHERE name = '" + name + "'");
    }

    // risk: none (bound)
    ResultSet byNameBound(HttpServletRequest request) throws Exception {
        String name = request.getParameter("name");
        var ps = connection.prepareStatement("SELECT * FROM goods WHERE name = ?");
        ps.setString(1, name);
        return ps.executeQuery();
    }

    // risk: http.request->file.open
    String download(HttpServletRequest request) throws IOException {
        File file = new File("/srv/files", "x");
        String name = request.getParameter("file");
        File wanted = new File("/srv/files/" + name);
        return wanted.exists() ? wanted.getPath() : file.getPath();
    }

    // risk: none (the last part only)
    String downloadSafely(HttpServletRequest request) throws IOException {
        String name = FilenameUtils.getName(request.getParameter("file"));
        return Files.readString(Path.of("/srv/files", name));
    }

    // risk: http.headers->html.raw
    void echo(HttpServletRequest request, HttpServletResponse response) throws IOException {
        String agent = request.getHeader("User-Agent");
        response.getWriter().println("<p>" + agent + "</p>");
    }

    // risk: none (escaped)
    void echoEscaped(HttpServletRequest request, HttpServletResponse response) throws IOException {
        String agent = HtmlUtils.htmlEscape(request.getHeader("User-Agent"));
        response.getWriter().println("<p>" + agent + "</p>");
    }

    // risk: http.request->http.fetch
    Object mirror(HttpServletRequest request) throws Exception {
        String address = request.getParameter("from");
        return new URL(address).openStream();
    }

    // risk: none (only compared)
    Object mirrorKnown(HttpServletRequest request) throws Exception {
        boolean inside = request.getParameter("from") == "inside";
        return new URL(inside ? "http://a.example" : "http://b.example").openStream();
    }

    // risk: http.request->redirect
    void leave(HttpServletRequest request, HttpServletResponse response) throws IOException {
        response.sendRedirect(request.getParameter("next"));
    }

    // risk: none (a number)
    void page(HttpServletRequest request, HttpServletResponse response) throws IOException {
        int number = Integer.parseInt(request.getParameter("page"));
        response.sendRedirect("/list/" + number);
    }

    // risk: http.request->ProcessBuilder
    void convert(HttpServletRequest request) throws IOException {
        List<String> words = new ArrayList<>();
        for (String one : request.getParameterValues("word")) {
            words.add(one);
        }
        new ProcessBuilder(words).start();
    }

    // risk: none (replaced)
    void convertNothing(HttpServletRequest request) throws IOException {
        String word = request.getParameter("word");
        word = "true";
        new ProcessBuilder(word).start();
    }

    // risk: cross http.request->Runtime.exec
    void pack(HttpServletRequest request) throws IOException {
        String folder = request.getParameter("folder");
        ShopHelpers.archive("now", folder);
    }

    // risk: none (the harmless parameter)
    void packFixed(HttpServletRequest request) throws IOException {
        ShopHelpers.archive(request.getParameter("note"), "/srv/goods");
    }

    // risk: cross process.env->Runtime.exec
    void reload() throws IOException {
        String line = "systemctl reload " + ShopHelpers.service();
        Runtime.getRuntime().exec(line);
    }

    // risk: none (a constant of the helper)
    void reloadFixed() throws IOException {
        Runtime.getRuntime().exec("systemctl reload " + ShopHelpers.fixedService("x"));
    }

    // risk: none (cleaned by the helper)
    void show(HttpServletRequest request, HttpServletResponse response) throws IOException {
        response.getWriter().println(ShopHelpers.shown(request.getParameter("text")));
    }

    // risk: none (made a number by the helper)
    void nice(HttpServletRequest request) throws IOException {
        Runtime.getRuntime().exec("nice -n " + ShopHelpers.level(request.getParameter("level")));
    }

    // risk: http.request->Runtime.exec
    void wrong(HttpServletRequest request) throws IOException {
        Runtime.getRuntime().exec("ls " + ShopHelpers.shown(request.getParameter("what")));
    }

    // risk: http.cookies->ObjectInputStream
    Object restore(HttpServletRequest request) throws Exception {
        var cookies = request.getCookies();
        byte[] bytes = Base64.getDecoder().decode(cookies[0].getValue());
        return new ObjectInputStream(new ByteArrayInputStream(bytes)).readObject();
    }

    // risk: cross process.env->sql.statement
    ResultSet ask() throws Exception {
        String name = System.getenv("NAME");
        return find(name);
    }

    private ResultSet find(String name) throws Exception {
        Statement statement = connection.createStatement();
        return statement.executeQuery("SELECT * FROM goods WHERE name = '" + name + "'");
    }

    // risk: none (in a string and a comment)
    String pretend(HttpServletRequest request) {
        String name = request.getParameter("name");
        // Runtime.getRuntime().exec(name);
        return "Runtime.getRuntime().exec(name)";
    }
}
