// One line on the error stream that says what is being measured.

/** Without a text the line is cleared. */
export function progress(text = ''): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${text}`);
  else if (text) process.stderr.write(`${text}\n`);
}
