import fs from 'node:fs';

export async function removeFolder(folder: string): Promise<void> {
  const place = '/srv/' + folder;
  fs.rmSync(place, { recursive: true });
}

export function tidy(folder: string): string {
  return String(parseInt(folder, 10));
}
