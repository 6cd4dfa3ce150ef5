// How the bar above the reference and the guides look, by day, by night and in print.

/** The viewer names its colours; the guides, which are without it, use those behind the commas. */
export const barStyle = `
:root { --scalar-custom-header-height: 44px }
body { margin: 0 }
.bar { position: sticky; top: 0; z-index: 20; box-sizing: border-box; height: 44px; display: flex; align-items: center; gap: 1.25rem;
  padding: 0 1.25rem; overflow-x: auto; white-space: nowrap; font: 14px/1 system-ui, sans-serif; 
  border-bottom: 1px solid var(--scalar-border-color, #8884); background: var(--scalar-background-1, Canvas) }
.bar a { color: var(--scalar-color-1, CanvasText); text-decoration: none; padding: .5rem 0 }
.bar a:hover, .bar a:focus-visible { text-decoration: underline } .bar a:first-child { font-weight: 650 }
@media print { .bar { display: none } }
`;

export const guideStyle = `${barStyle}
:root { color-scheme: light dark; --ink: light-dark(#1c2430, #e4e8ee); --line: light-dark(#e2e7ee, #2c3543);
  --paper: light-dark(#fff, #12161d); --panel: light-dark(#f6f8fb, #191f29); --accent: light-dark(#0b5fb0, #6db3f7) }
html { scroll-padding-top: 56px }
body { font: 16px/1.6 system-ui, sans-serif; color: var(--ink); background: var(--paper) }
.bar { background: var(--paper); border-color: var(--line) }
main { max-width: 52rem; margin: 0 auto; padding: 1.5rem 1.25rem 4rem; overflow-wrap: break-word }
h1, h2, h3 { line-height: 1.25; margin: 2rem 0 .75rem } h1 { margin-top: .5rem }
main a { color: var(--accent) }
code { font: .875em ui-monospace, monospace; background: var(--panel); padding: .1em .3em; border-radius: 3px }
pre { background: var(--panel); padding: .85rem 1rem; border-radius: 6px; overflow-x: auto; line-height: 1.45 }
pre code { background: none; padding: 0; overflow-wrap: normal }
table { display: block; overflow-x: auto; border-collapse: collapse; font-size: 14px }
th, td { text-align: left; vertical-align: top; padding: .4rem .75rem .4rem 0; border-bottom: 1px solid var(--line) }
`;
