// Keeps the live parts of a page up to date: fetches the page again and replaces them.
const STEP_MS = 5_000;
const LIMIT_MS = 10_000;

const shown = document.getElementById('refreshed');
const toggle = document.getElementById('refresh-toggle');
const sections = () => [...document.querySelectorAll('[data-live]')];

// On a phone the sections scroll sideways, so this shows the current one.
document.querySelector('nav [aria-current]')?.scrollIntoView({ inline: 'center', block: 'nearest' });

if (shown && toggle && sections().length > 0) {
  let isPaused = false;
  let lastAt = new Date();
  toggle.hidden = false;
  toggle.addEventListener('click', () => {
    isPaused = !isPaused;
    toggle.textContent = isPaused ? 'Resume refresh' : 'Pause refresh';
    say(isPaused ? `Stopped at ${clock(lastAt)}` : `Updated ${clock(lastAt)}`);
    if (!isPaused) void refresh();
  });
  // A tab in the background does not refresh. It does as soon as it is visible again.
  document.addEventListener('visibilitychange', () => void refresh());
  setInterval(() => void refresh(), STEP_MS);
  say(`Updated ${clock(lastAt)}`);

  let isRunning = false;
  async function refresh() {
    if (isPaused || isRunning || document.hidden) return;
    isRunning = true;
    try {
      const response = await fetch(location.href, {
        headers: { 'X-Refresh': '1' },
        signal: AbortSignal.timeout(LIMIT_MS),
      });
      // The session has expired: the login redirects back here.
      if (response.status === 401) return location.reload();
      if (!response.ok) throw new Error(`status ${response.status}`);
      const fresh = new DOMParser().parseFromString(await response.text(), 'text/html');
      // The operator paused meanwhile. The numbers stay those of the time that the page shows.
      if (isPaused) return;
      for (const section of sections()) replace(section, fresh.getElementById(section.id));
      lastAt = new Date();
      say(`Updated ${clock(lastAt)}`);
    } catch {
      if (isPaused) return;
      // Old numbers must not look like new ones.
      say(`No answer. These are the numbers of ${clock(lastAt)}`, true);
    } finally {
      isRunning = false;
    }
  }
}

function replace(old, fresh) {
  if (!fresh || old.innerHTML === fresh.innerHTML) return;
  const reachable = (root) => [...root.querySelectorAll('a, button, input, select')];
  const focused = reachable(old).indexOf(document.activeElement);
  old.replaceChildren(...fresh.childNodes);
  // The keyboard focus stays on the same control.
  if (focused >= 0) reachable(old)[focused]?.focus({ preventScroll: true });
}

function say(text, isStale = false) {
  shown.textContent = text;
  document.body.classList.toggle('stale', isStale);
}

function clock(date) {
  return date.toTimeString().slice(0, 8);
}
