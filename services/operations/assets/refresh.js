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

/** The sections as the service sent them last. */
const sent = new WeakMap();

function replace(old, fresh) {
  if (!fresh || (sent.get(old) ?? old.innerHTML) === fresh.innerHTML) return;
  sent.set(old, fresh.innerHTML);
  silenceKnown(old, fresh);
  const focused = controlsIn(old).find((control) => control === document.activeElement);
  const target = focused && targetOf(focused);
  const withItsTarget = () => controlsIn(old).filter((control) => targetOf(control) === target);
  const place = focused && withItsTarget().indexOf(focused);
  old.replaceChildren(...fresh.childNodes);
  if (!focused) return;
  // The focus stays with its record, wherever its row is now. The control of another record would act on that record.
  const same = withItsTarget();
  const next = same[place] ?? same.at(-1) ?? old;
  // The section takes the focus of a control that is gone, so that the Tab key continues there.
  if (next === old) old.tabIndex = -1;
  next.focus({ preventScroll: true });
}

function controlsIn(section) {
  return [...section.querySelectorAll('a, button, input, select')];
}

/** Returns where the control leads. Controls with the same target do the same. */
function targetOf(control) {
  return control.href ?? control.form?.getAttribute('action');
}

/** Takes the role of alerts that are shown already, because screen readers read an alert aloud whenever it is inserted. */
function silenceKnown(old, fresh) {
  const known = new Set([...old.querySelectorAll('.note')].map(gistOf));
  for (const alert of fresh.querySelectorAll('[role="alert"]'))
    if (known.has(gistOf(alert))) alert.removeAttribute('role');
}

/** Returns the text of a note without its numbers and durations, which change with every refresh. */
function gistOf(note) {
  return note.textContent.replace(/[\d.,]+( (ms|s|min|h|d)\b)?/g, '#');
}

function say(text, isStale = false) {
  // Screen readers announce that numbers are old, and not each update.
  shown.setAttribute('aria-live', isStale ? 'polite' : 'off');
  shown.textContent = text;
  document.body.classList.toggle('stale', isStale);
}

function clock(date) {
  return date.toTimeString().slice(0, 8);
}
