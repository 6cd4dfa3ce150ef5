// The page with the login form.
import type { VNode } from 'preact';
import { html } from '#libs/pages/html.ts';
import { note } from '#libs/pages/parts.ts';
import { documentOf } from '../views/layout.ts';

export function loginPage(content: { next: string; name?: string; problem?: string }): VNode {
  const { next, name = '', problem } = content;
  return documentOf(
    'Log in',
    html`<body class="login">
      <main>
        <h1><span class="mark" aria-hidden="true"></span>Billhook <small>operations</small></h1>
        ${problem ? note('bad', problem) : null}
        <form method="post" action="/login">
          <input type="hidden" name="next" value=${next} />
          <label>Name<input name="name" value=${name} autocomplete="username" required autofocus=${!name} /></label>
          <label>Password<input type="password" name="password" autocomplete="current-password" required autofocus=${Boolean(name)} /></label>
          <button class="main">Log in</button>
        </form>
        <p class="quiet">Create operators with <code>npm run -s admin -- operators create</code>.</p>
      </main>
    </body>`,
  );
}
