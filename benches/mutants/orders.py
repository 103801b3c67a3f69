def compare_orders(results, seed):
    return ""
