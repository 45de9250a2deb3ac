"""The gallery at `/preview`, in development from a checkout: each part of pages, and whole pages with invented rows."""
