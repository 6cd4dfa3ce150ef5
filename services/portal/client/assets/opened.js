(() => {
  let left = 3000,
    since = 0,
    timer;
  const report = () =>
    fetch(`${location.pathname.replace(/\/$/, '')}/opened`, {
      method: 'POST',
      keepalive: true,
      body: new URLSearchParams({ csrf: document.body.dataset.csrf }),
    }).catch(() => {});
  const watch = () => {
    clearTimeout(timer);
    if (document.visibilityState === 'visible') {
      since = Date.now();
      timer = setTimeout(() => void report(), left);
    } else if (since) {
      left -= Date.now() - since;
      since = 0;
    }
  };
  document.addEventListener('visibilitychange', watch);
  watch();
})();
