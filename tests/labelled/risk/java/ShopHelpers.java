package shop;

import java.io.IOException;

final class ShopHelpers {
    static String archive(String note, String folder) throws IOException {
        String line = "tar cf /tmp/a.tar " + folder;
        Runtime.getRuntime().exec(line);
        return note;
    }

    static String service() {
        String name = System.getenv("SERVICE");
        return name.trim();
    }

    static String fixedService(String name) {
        return name.equals(System.getenv("SERVICE")) ? "nginx" : "sshd";
    }

    static String shown(String text) {
        String safe = HtmlUtils.htmlEscape(text);
        return "<p>" + safe + "</p>";
    }

    static String level(String text) {
        return String.valueOf(Integer.parseInt(text));
    }
}
