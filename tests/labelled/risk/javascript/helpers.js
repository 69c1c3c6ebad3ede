const { exec } = require('child_process');
const escapeHtml = require('escape-html');

function archive(note, folder) {
  const command = `tar cf /tmp/a.tar ${folder}`;
  exec(command);
  return note;
}

function clean(text) {
  const shown = escapeHtml(text);
  return shown;
}

function readTarget() {
  const target = process.env.TARGET || 'nginx';
  return target.trim();
}

const pick = (name) => {
  const known = name === 'web';
  parseInt('1', 10);
  return known ? 'nginx' : 'sshd';
};

const toCount = (text) => Number(text);

function quoteAll(text) {
  return encodeURIComponent(text);
}

module.exports = { archive, clean, readTarget, pick, toCount, quoteAll };
