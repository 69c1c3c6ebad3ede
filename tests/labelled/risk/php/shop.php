<?php

namespace Shop;

require_once 'helpers.php';

// risk: http.request->system
function ping()
{
    $host = $_GET['host'];
    system("ping -c 1 $host");
}

// risk: none (escaped)
function ping_escaped()
{
    $host = escapeshellarg($_GET['host']);
    system("ping -c 1 " . $host);
}

// risk: http.request->sql.query
function by_name($link)
{
    $name = $_POST['name'];
    $sql = "SELECT * FROM goods WHERE name = '" . $name . "'";
    return mysqli_query($link, $sql);
}

// risk: none (bound)
function by_name_bound($pdo)
{
    $statement = $pdo->prepare('SELECT * FROM goods WHERE name = ?');
    $statement->execute([$_POST['name']]);
    return $statement->fetchAll();
}

// risk: http.request->eval
function compute()
{
    return eval('return ' . $_REQUEST['expression'] . ';');
}

// risk: none (a number)
function page()
{
    $number = intval($_REQUEST['page']);
    echo "<p>page $number</p>";
}

// risk: http.cookies->unserialize
function restore()
{
    $state = base64_decode($_COOKIE['state']);
    return unserialize($state);
}

// risk: none (parsed, not made into objects)
function restore_json()
{
    return json_decode($_COOKIE['state'], true);
}

// risk: http.request->echo
function greet()
{
    $name = $_GET['name'];
    echo '<h1>Hello ' . $name . '</h1>';
}

// risk: none (escaped)
function greet_escaped()
{
    $name = htmlspecialchars($_GET['name']);
    echo '<h1>Hello ' . $name . '</h1>';
}

// risk: http.request->include
function show_part()
{
    $part = $_GET['part'];
    include 'parts/' . $part . '.php';
}

// risk: none (only compared)
function show_known_part()
{
    $is_main = $_GET['part'] === 'main';
    include $is_main ? 'parts/main.php' : 'parts/other.php';
}

// risk: http.request->file.open
function download()
{
    $file = '/srv/files/' . $_GET['file'];
    return file_get_contents($file);
}

// risk: none (the last part only)
function download_safely()
{
    $file = '/srv/files/' . basename($_GET['file']);
    return file_get_contents($file);
}

// risk: http.request->redirect
function leave()
{
    header('Location: ' . $_GET['next']);
}

// risk: none (replaced)
function leave_home()
{
    $next = $_GET['next'];
    $next = '/';
    header('Location: ' . $next);
}

// risk: cross http.request->system
function pack_goods()
{
    $folder = $_POST['folder'];
    archive('now', $folder);
}

// risk: none (the harmless parameter)
function pack_fixed()
{
    archive($_POST['note'], '/srv/goods');
}

// risk: cross process.env->system
function reload_service()
{
    $line = 'systemctl reload ' . service_name();
    system($line);
}

// risk: none (cleaned by the helper)
function show_text()
{
    echo shown($_GET['text']);
}

// risk: none (a number, made by the helper)
function nice_level()
{
    system('nice -n ' . level_of($_GET['level']) . ' make');
}

// risk: http.request->system
function wrong()
{
    system('ls ' . shown($_GET['what']));
}

class Orders
{
    private $db;

    // risk: cross http.request->sql.execute
    public function find()
    {
        $id = $_GET['id'];
        return $this->load($id);
    }

    private function load($id)
    {
        $db = $this->db;
        return $db->query("SELECT * FROM orders WHERE id = $id");
    }

    // risk: none (in a string and a comment)
    public function pretend()
    {
        $id = $_GET['id'];
        // system($id);
        return 'system($id)';
    }
}
