"""`majlis doctor`: what may keep the platform from working, looked at one by one."""
