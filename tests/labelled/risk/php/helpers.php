<?php

namespace Shop;

function archive($note, $folder)
{
    $line = 'tar cf /tmp/a.tar ' . $folder;
    exec($line);
    return $note;
}

function service_name()
{
    $name = getenv('SERVICE');
    return trim($name);
}

function shown($text)
{
    $safe = htmlspecialchars($text);
    return '<p>' . $safe . '</p>';
}

function level_of($text)
{
    return intval($text);
}
