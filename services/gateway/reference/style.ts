// How the reference looks, by day, by night and in print.

export const style = `
:root { color-scheme: light dark; --ink: light-dark(#1c2430, #e4e8ee); --soft: light-dark(#5c6879, #98a4b5);
  --line: light-dark(#e2e7ee, #2c3543); --paper: light-dark(#fff, #12161d); --panel: light-dark(#f6f8fb, #191f29);
  --accent: light-dark(#0b5fb0, #6db3f7); }
* { box-sizing: border-box }
html { scroll-padding-top: 1rem }
body { margin: 0; display: grid; grid-template-columns: 20rem minmax(0, 1fr); font: 15px/1.55 system-ui, sans-serif;
  color: var(--ink); background: var(--paper) }
nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; padding: 1.25rem; background: var(--panel);
  border-right: 1px solid var(--line); font-size: 13px }
nav h2 { font-size: 11px; letter-spacing: .06em; text-transform: uppercase; color: var(--soft); margin: 1.25rem 0 .25rem }
nav ul { list-style: none; margin: 0; padding: 0 }
nav a { display: block; color: inherit; text-decoration: none; padding: .15rem 0 }
nav a:hover, nav a:focus-visible { color: var(--accent) }
nav li a { padding-left: 3.6rem; text-indent: -3.6rem }
nav .event a { padding-left: 0; text-indent: 0 }
nav .home { font-size: 18px; font-weight: 650 }
nav small { color: var(--soft); font-weight: 400 }
nav b { display: inline-block; width: 3.6rem; font-size: 10px; text-indent: 0 }
main { padding: 2rem 3rem 6rem; max-width: 62rem }
h1 { font-size: 1.7rem; margin: 3rem 0 1rem } main > h1:first-child { margin-top: 0 }
h2 { font-size: 1.15rem } h3 { font-size: 1rem; font-weight: 600; margin: .25rem 0 } h4 { margin: 1.4rem 0 .4rem; color: var(--soft) }
section { border-top: 1px solid var(--line); padding: 1.5rem 0 }
a { color: var(--accent) }
code, pre { font: 13px/1.5 ui-monospace, monospace }
pre { background: var(--panel); border: 1px solid var(--line); border-radius: 6px; padding: .8rem 1rem; overflow-x: auto }
table { border-collapse: collapse; width: 100%; font-size: 13.5px }
th, td { text-align: left; vertical-align: top; padding: .35rem .6rem .35rem 0; border-bottom: 1px solid var(--line); font-weight: 400 }
section th { width: 15rem } section td:nth-child(2) { width: 16rem; color: var(--soft) }
th i { color: var(--soft); font-style: normal } em { color: light-dark(#a0451a, #f0a26f); font-size: 11px; font-style: normal }
p { margin: .4rem 0 } td p, dd > p { margin: 0 }
dl { display: grid; grid-template-columns: 3.5rem minmax(0, 1fr); gap: .3rem .6rem; margin: 0 } dd { margin: 0 }
dt { font: 600 13px/1.7 ui-monospace, monospace } .success { color: light-dark(#12743a, #62d394) } .failure { color: var(--soft) }
b.get { color: light-dark(#0b5fb0, #6db3f7) } b.post { color: light-dark(#12743a, #62d394) }
b.patch { color: light-dark(#8a5a00, #e6b450) } b.delete { color: light-dark(#b3261e, #ff8d85) }
@media (max-width: 52rem) { body { display: block } nav { position: static; height: auto; border-right: 0 } main { padding: 1rem } }
@media print { nav { display: none } body { display: block } }
`;
