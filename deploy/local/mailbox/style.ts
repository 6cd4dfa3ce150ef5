// The style sheet of the mailbox.

export const STYLE = `
:root {
  color-scheme: light dark;
  --ink: light-dark(#182226, #e4eaec);
  --quiet: light-dark(#5a676d, #9aa8ae);
  --ground: light-dark(#f5f6f7, #0f1416);
  --paper: light-dark(#ffffff, #182023);
  --edge: light-dark(#dde2e5, #2c383d);
  --main: light-dark(#0f766e, #4fd1c1);
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
main { max-width: 52rem; margin: 0 auto; padding: 1.25rem 1rem 3rem; }
h1 { font-size: 1.4rem; line-height: 1.25; margin: 0.5rem 0; }
a { color: var(--main); }
.quiet { color: var(--quiet); font-size: 0.875rem; }
.empty { padding: 3rem 0; text-align: center; color: var(--quiet); }
ul { list-style: none; margin: 1rem 0; padding: 0; }
.mails li { border: 1px solid var(--edge); border-bottom-width: 0; background: var(--paper); }
.mails li:first-child { border-radius: 10px 10px 0 0; }
.mails li:last-child { border-bottom-width: 1px; border-radius: 0 0 10px 10px; }
.mails li:only-child { border-radius: 10px; }
.mails a { display: grid; gap: 0.1rem; padding: 0.8rem 1rem; color: inherit; text-decoration: none; }
.mails a:hover .subject { text-decoration: underline; }
.subject { font-weight: 600; }
dl { margin: 0.75rem 0; display: grid; gap: 0.2rem; }
dl div { display: grid; grid-template-columns: 5.5rem 1fr; gap: 0.5rem; }
dt { color: var(--quiet); }
dd { margin: 0; }
.attachments li { display: inline-block; padding: 0.4rem 0.8rem; margin: 0 0.5rem 0.5rem 0; border: 1px solid var(--edge); border-radius: 8px; background: var(--paper); }
iframe { display: block; width: 100%; height: max(26rem, 60vh); border: 1px solid var(--edge); border-radius: 10px; background: Canvas; }
pre { white-space: pre-wrap; padding: 1rem; border: 1px solid var(--edge); border-radius: 10px; background: var(--paper); font: 0.9rem/1.5 ui-monospace, monospace; }
details { margin-top: 0.75rem; }
summary { cursor: pointer; color: var(--quiet); }
`;
