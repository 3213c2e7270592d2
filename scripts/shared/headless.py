"""Chromium without a window, for the tests of pages."""

import shutil

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
except ImportError:
    raise SystemExit("selenium is missing: apt-get install python3-selenium, and run this by Debian's own python3") from None

LIMIT = 60  # seconds until a wait is a failure


def browser(folder):
    """A Chromium with a profile of its own that reaches nothing: no name is looked up, and files are all it opens."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or "chromium"
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                     "--disable-background-networking", "--disable-component-update", "--disable-sync",
                     "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost",
                     f"--user-data-dir={folder}", "--window-size=1400,1000"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(service=Service(shutil.which("chromedriver") or "/usr/bin/chromedriver"), options=options)
    driver.set_page_load_timeout(LIMIT)
    return driver
